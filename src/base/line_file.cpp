// SPDX-License-Identifier: MIT
#include "base/line_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "kbench/error.hpp"

namespace kbench {

LineFile::LineFile(std::filesystem::path path)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {
  struct stat status {};
  if (!fd_ || ::fstat(fd_.value(), &status) != 0) {
    throw UsageError(fmt::format("cannot write {}: {}; name another file with --out",
                                 path_.string(), std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) {
    throw UsageError(
        fmt::format("cannot write a run to {}: it is not a regular file", path_.string()));
  }
}

std::uint64_t LineFile::size() const {
  const off_t end = ::lseek(fd_.value(), 0, SEEK_END);
  return end < 0 ? 0 : static_cast<std::uint64_t>(end);
}

void LineFile::lock() const {
  if (::flock(fd_.value(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) {
    throw UsageError(fmt::format(
        "another run is writing {}: wait for it to end, or name another file with --out",
        path_.string()));
  }
  throw Error(fmt::format("cannot lock {}: {}; name a file on another file system with --out",
                          path_.string(), std::strerror(errno)));
}

bool LineFile::begin(bool resume) const {
  if (size() == 0) return false;
  if (resume) return true;
  throw UsageError(fmt::format(
      "{} exists: continue it with --resume, or name another file with --out", path_.string()));
}

std::string LineFile::first_line() const {
  std::ifstream in(path_, std::ios::binary);
  std::string first;
  std::getline(in, first);
  return first;
}

void LineFile::find_torn_end() {
  const std::uint64_t bytes = size();
  char last = '\n';
  if (bytes > 0 && ::pread(fd_.value(), &last, 1, static_cast<off_t>(bytes - 1)) != 1) {
    throw Error(fmt::format("cannot read {}: {}", path_.string(), std::strerror(errno)));
  }
  torn_ = last != '\n';
}

std::optional<std::uint64_t> LineFile::append(const std::string& line) {
  const std::uint64_t offset = size() + (torn_ ? 1 : 0);
  const std::string bytes = (torn_ ? "\n" : "") + line + "\n";
  if (const std::size_t done = write_all(fd_.value(), bytes); done < bytes.size()) {
    torn_ = torn_ || done > 0;
    return std::nullopt;
  }
  torn_ = false;
  return offset;
}

}  // namespace kbench
