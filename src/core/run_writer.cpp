// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "kbench/error.hpp"
#include "kbench/run_log.hpp"
#include "kbench/subprocess.hpp"
#include "run_lines.hpp"

namespace kbench {
namespace {

// A line of the roster stays near a hundred kilobytes, so that readers share the work of parsing.
constexpr std::size_t kRosterEntriesPerLine = 1000;

/// A file that only grows, by whole lines.
class LineFile {
 public:
  explicit LineFile(std::filesystem::path path)
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

  const std::filesystem::path& path() const { return path_; }
  int fd() const { return fd_.value(); }

  std::uint64_t size() const {
    const off_t end = ::lseek(fd_.value(), 0, SEEK_END);
    return end < 0 ? 0 : static_cast<std::uint64_t>(end);
  }

  /// Looks whether an earlier writer was interrupted in its last line.
  void find_torn_end() {
    const std::uint64_t bytes = size();
    char last = '\n';
    if (bytes > 0 && ::pread(fd_.value(), &last, 1, static_cast<off_t>(bytes - 1)) != 1) {
      throw Error(fmt::format("cannot read {}: {}", path_.string(), std::strerror(errno)));
    }
    torn_ = last != '\n';
  }

  /// Appends `line` and its end, and gives the offset at which it stands; no value, with errno
  /// set, where it could not be written whole.
  std::optional<std::uint64_t> append(const std::string& line) {
    const std::uint64_t offset = size() + (torn_ ? 1 : 0);
    const std::string bytes = (torn_ ? "\n" : "") + line + "\n";
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::write(fd_.value(), bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        const int error = n < 0 ? errno : ENOSPC;
        torn_ = torn_ || done > 0;
        errno = error;
        return std::nullopt;
      }
      done += static_cast<std::size_t>(n);
    }
    torn_ = false;
    return offset;
  }

 private:
  std::filesystem::path path_;
  Fd fd_;
  bool torn_ = false;
};

void lock(const LineFile& file) {
  if (::flock(file.fd(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) {
    throw UsageError(fmt::format(
        "another run is writing {}: wait for it to end, or name another file with --out",
        file.path().string()));
  }
  throw Error(fmt::format("cannot lock {}: {}; name a file on another file system with --out",
                          file.path().string(), std::strerror(errno)));
}

/// Refuses to go on with a file that does not begin with a run line.
void check_run_line(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string first;
  std::getline(in, first);
  const auto json = nlohmann::json::parse(first, nullptr, false);
  try {
    if (!json.is_discarded() && std::holds_alternative<RunHeader>(run_line_from_json(json))) return;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} {}", path.string(), error.what()));
  } catch (const Error&) {
    // Said below, as for any other line.
  }
  throw UsageError(
      fmt::format("cannot resume {}: its first line is no run line; name another file with --out",
                  path.string()));
}

}  // namespace

struct RunWriter::Impl {
  explicit Impl(const std::filesystem::path& path) : run(path) {}

  void append(LineFile& file, const nlohmann::json& line) {
    static_cast<void>(append_text(file, dump_line(line)));
  }

  std::uint64_t append_text(LineFile& file, const std::string& text) {
    if (const auto offset = file.append(text)) return *offset;
    const int error = errno;
    throw Error(fmt::format(
        "cannot write {}: {}; the {} records that this run wrote before are kept: make room and "
        "go on with --resume",
        file.path().string(), std::strerror(error), records));
  }

  LineFile run;
  std::optional<LineFile> details;
  std::size_t records = 0;
};

RunWriter::RunWriter(const std::filesystem::path& path, bool resume)
    : impl_(std::make_unique<Impl>(path)) {
  lock(impl_->run);
  if (impl_->run.size() > 0) {
    if (!resume) {
      throw UsageError(fmt::format(
          "{} exists: go on with it by --resume, or name another file with --out", path.string()));
    }
    check_run_line(path);
    impl_->run.find_torn_end();
  }
  impl_->details.emplace(details_path(path));
  impl_->details->find_torn_end();
}

RunWriter::~RunWriter() = default;

void RunWriter::write(const RunHeader& header) { impl_->append(impl_->run, to_json(header)); }

void RunWriter::write(const std::vector<RosterEntry>& roster) {
  const std::span<const RosterEntry> all = roster;
  for (std::size_t i = 0; i < all.size(); i += kRosterEntriesPerLine) {
    impl_->append(impl_->run,
                  to_json(all.subspan(i, std::min(kRosterEntriesPerLine, all.size() - i))));
  }
}

std::string RunWriter::write(Record record, const nlohmann::json& details) {
  if (!details.is_null()) {
    const std::string text = dump_line(details);
    record.details =
        DetailsRef{.offset = impl_->append_text(*impl_->details, text), .length = text.size()};
  }
  std::string line = dump_line(to_json(record));
  impl_->append_text(impl_->run, line);
  ++impl_->records;
  return line;
}

void RunWriter::write_end(const std::string& secret, bool complete) {
  impl_->append(impl_->run, to_json(RunEnd{.secret = secret, .complete = complete}));
}

std::filesystem::path details_path(const std::filesystem::path& path) {
  return path.parent_path() / (path.stem().string() + ".details.jsonl");
}

}  // namespace kbench
