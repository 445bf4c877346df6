// SPDX-License-Identifier: MIT
#include "base/file_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

FileBytes read_file(const fs::path& path, std::size_t max_bytes) {
  FileBytes file;
  // Without O_NONBLOCK, opening a pipe may wait forever for a writer.
  const Fd descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!descriptor || ::fstat(descriptor.value(), &info) != 0) {
    file.error = reason(errno);
    return file;
  }
  if (!S_ISREG(info.st_mode)) {
    file.error = S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a regular file";
    return file;
  }
  file.size_bytes = static_cast<std::size_t>(info.st_size);
  if (file.size_bytes > max_bytes) {
    file.too_large = true;
    file.error = fmt::format("{} bytes are more than the {} allowed", file.size_bytes, max_bytes);
    return file;
  }
  file.bytes.resize(file.size_bytes);
  const std::size_t have = read_at(descriptor.value(), 0, file.bytes.data(), file.size_bytes);
  if (have < file.size_bytes && errno != 0) {
    file.error = reason(errno);
    file.bytes.clear();
    return file;
  }
  file.bytes.resize(have);
  return file;
}

std::string file_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool replace_file(const fs::path& path, std::string_view text) {
  static std::atomic<unsigned> count = 0;
  const fs::path temporary = fmt::format("{}.{}.{}.tmp", path.string(), ::getpid(), count++);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream stream(temporary, std::ios::binary);
  stream << text;
  stream.close();
  if (stream) fs::rename(temporary, path, error);
  const bool replaced = stream && !error;
  if (!replaced) fs::remove(temporary, error);
  return replaced;
}

std::string file_version(const fs::path& path) {
  std::error_code ignored;
  return fmt::format("{} {} {}", path.string(),
                     fs::last_write_time(path, ignored).time_since_epoch().count(),
                     fs::is_regular_file(path, ignored) ? fs::file_size(path, ignored) : 0);
}

FolderEntries list_folder(const fs::path& folder) {
  FolderEntries entries;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.filename().native().front() == '.') continue;
    std::error_code ignored;
    (entry->is_directory(ignored) ? entries.folders : entries.files).push_back(path);
  }
  if (error) {
    throw UsageError(
        fmt::format("cannot read the folder {}: {}", folder.string(), error.message()));
  }
  const auto by_name = [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().native(), b.filename().native());
  };
  std::sort(entries.files.begin(), entries.files.end(), by_name);
  std::sort(entries.folders.begin(), entries.folders.end(), by_name);
  return entries;
}

bool leads_inside(const fs::path& path, const fs::path& root) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) return false;
  return std::mismatch(root.begin(), root.end(), target.begin(), target.end()).first == root.end();
}

bool Descent::enter(const fs::path& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return false;
  const std::pair<std::uintmax_t, std::uintmax_t> identity(info.st_dev, info.st_ino);
  if (std::find(on_the_way_.begin(), on_the_way_.end(), identity) != on_the_way_.end()) {
    return false;
  }
  on_the_way_.push_back(identity);
  return true;
}

bool is_foreign_folder(const fs::path& folder) {
  constexpr std::array<std::string_view, 3> kForeign = {"__pycache__", "site-packages",
                                                        "node_modules"};
  return std::find(kForeign.begin(), kForeign.end(), folder.filename().native()) != kForeign.end();
}

}  // namespace kbench
