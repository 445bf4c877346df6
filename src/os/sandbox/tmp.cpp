// SPDX-License-Identifier: MIT
// A sandboxed process's private folders of temporary files. They are file systems in memory and end
// with its namespaces. Paths below the machine's folders that it may use are mounted again in the
// same places.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "os/sandbox/sandbox.hpp"
#include "os/sandbox/steps.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolders[] = {"/tmp", "/var/tmp"};
constexpr const char* kOptions = "mode=1777,size=1g,nr_inodes=131072";

// From linux/mount.h, which older system headers lack. The numbers are the same on all
// architectures. Linux has the calls since 5.12, so every kernel with Landlock has them.
constexpr long kOpenTree = 428;
constexpr long kMoveMount = 429;
constexpr long kMountSetattr = 442;
constexpr unsigned kCloneTree = 1;
constexpr unsigned kRecursive = 0x8000;
constexpr unsigned kEmptyPath = 0x1000;
constexpr unsigned kMoveEmptyPath = 4;
struct MountAttributes {
  std::uint64_t set, clear, propagation, user_namespace;
};
constexpr std::uint64_t kReadOnly = 1;

/// A file or folder that the new folder's mount would hide.
struct Kept {
  fs::path path;
  Fd tree;
  bool is_folder, writable;
};

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() && rest != path.end();
}

/// Keeps an existing path reachable; false if that fails.
bool keep(const fs::path& path, bool writable, std::vector<Kept>& kept) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return true;
  Fd tree(static_cast<int>(
      ::syscall(kOpenTree, AT_FDCWD, path.c_str(), kCloneTree | kRecursive | unsigned{O_CLOEXEC})));
  if (!tree) return false;
  // Landlock allows writing to everything below the new folder, so the kept tree is made read-only.
  const MountAttributes attributes{writable ? 0 : kReadOnly, 0, 0, 0};
  if (!writable && ::syscall(kMountSetattr, tree.value(), "", kEmptyPath | kRecursive, &attributes,
                             sizeof attributes) != 0)
    return false;
  kept.push_back({path, std::move(tree), S_ISDIR(status.st_mode), writable});
  return true;
}

bool put_back(const Kept& kept) {
  std::error_code error;
  if (kept.is_folder) {
    fs::create_directories(kept.path, error);
  } else {
    fs::create_directories(kept.path.parent_path(), error);
    const Fd file(::open(kept.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!file) return false;
  }
  return !error && ::syscall(kMoveMount, kept.tree.value(), "", AT_FDCWD, kept.path.c_str(),
                             kMoveEmptyPath) == 0;
}

bool replace(const fs::path& folder, const SandboxSetup& setup) {
  std::vector<fs::path> readable;
  for (const auto& path : setup.readable)
    if (is_below(path, folder)) readable.push_back(path);
  // A folder sorts before the paths below it, which its mount includes.
  std::sort(readable.begin(), readable.end());
  std::vector<Kept> kept;
  for (const auto& path : readable) {
    const bool brought = std::any_of(kept.begin(), kept.end(), [&](const Kept& other) {
      return path == other.path || is_below(path, other.path);
    });
    if (!brought && !keep(path, false, kept)) return false;
  }
  if (is_below(setup.folder, folder) && !keep(setup.folder, true, kept)) return false;
  if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, kOptions) != 0) return false;
  if (std::all_of(kept.begin(), kept.end(), put_back)) return true;
  ::umount2(folder.c_str(), MNT_DETACH);
  return false;
}

}  // namespace

std::span<const char* const> temporary_folders() { return kFolders; }

bool mount_temporary_folders(const SandboxSetup& setup) {
  std::vector<fs::path> folders;
  for (const char* name : kFolders) {
    std::error_code error;
    const fs::path folder = fs::canonical(name, error);
    if (!error && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  }
  // A folder that the process may read completely is not replaced.
  const bool is_read = std::ranges::any_of(folders, [&](const fs::path& folder) {
    return std::ranges::find(setup.readable, folder) != setup.readable.end();
  });
  return !folders.empty() && !is_read && std::ranges::all_of(folders, [&](const fs::path& folder) {
    return replace(folder, setup);
  });
}

}  // namespace kbench
