// SPDX-License-Identifier: MIT
#include "base/remove_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

namespace kbench {
namespace {

/// A folder that is open for reading and writable.
class OpenFolder {
 public:
  OpenFolder(int parent, const char* name) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = ::openat(parent, name, kFlags);
    if (fd < 0 && errno == EACCES && ::fchmodat(parent, name, S_IRWXU, 0) == 0)
      fd = ::openat(parent, name, kFlags);
    if (fd < 0) return;
    struct stat info {};
    ::fstat(fd, &info);
    if ((info.st_mode & S_IRWXU) != S_IRWXU) ::fchmod(fd, S_IRWXU);
    stream_ = ::fdopendir(fd);
    if (stream_ == nullptr) ::close(fd);
  }
  ~OpenFolder() {
    if (stream_ != nullptr) ::closedir(stream_);
  }
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;

  explicit operator bool() const { return stream_ != nullptr; }
  int fd() const { return ::dirfd(stream_); }
  void rewind() { ::rewinddir(stream_); }
  /// The next name in it; null at the end.
  const char* next() {
    while (const dirent* entry = ::readdir(stream_)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") return entry->d_name;
    }
    return nullptr;
  }

 private:
  DIR* stream_ = nullptr;
};

/// Removes a file or an empty folder.
bool removed(int parent, const char* name) {
  return ::unlinkat(parent, name, 0) == 0 || ::unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

/// Empties a folder by moving deeper entries up into it. Thus only two folders are open at a time,
/// paths stay short, and nothing recurses.
class Emptying {
 public:
  explicit Emptying(OpenFolder& root) : root_(root) {}

  /// Repeats passes over the folder until a pass changes nothing.
  void run() {
    while (std::exchange(progress_, false)) {
      root_.rewind();
      while (const char* name = root_.next()) {
        if (removed(root_.fd(), name))
          progress_ = true;
        else
          flatten(name);
      }
    }
  }

 private:
  void flatten(const char* name) {
    OpenFolder folder(root_.fd(), name);
    if (!folder) return;
    while (const char* below = folder.next())
      if (removed(folder.fd(), below) || taken_up(folder.fd(), below)) progress_ = true;
    if (::unlinkat(root_.fd(), name, AT_REMOVEDIR) == 0) progress_ = true;
  }

  bool taken_up(int parent, const char* name) {
    // Moving a folder changes its "..", so it must be writable.
    if (const OpenFolder writable(parent, name); !writable) return false;
    for (;;) {
      const std::string free = fmt::format("kbench-{}", next_name_++);
      if (::renameat(parent, name, root_.fd(), free.c_str()) == 0) return true;
      // Another entry may already have this name.
      if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) return false;
    }
  }

  OpenFolder& root_;
  bool progress_ = true;
  std::uint64_t next_name_ = 0;
};

}  // namespace

bool remove_tree(const std::filesystem::path& folder) {
  if (OpenFolder root(AT_FDCWD, folder.c_str()); root) Emptying(root).run();
  return ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

}  // namespace kbench
