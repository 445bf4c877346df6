// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kbench {

/// The access to a file, or to everything below a folder.
enum class FileAccess : std::uint8_t {
  kRead,
  kReadExecute,
  kWrite,   ///< all: reading, writing, making, removing and executing files
  kDevice,  ///< reading, writing and ioctl of existing files
};

struct FilePermission {
  std::string path;
  FileAccess access;
};

/// The version of the kernel's Landlock; 0: none.
int landlock_abi();

/// From this version on, Landlock blocks signals and abstract Unix sockets to outside processes.
inline constexpr int kLandlockScopes = 6;

/// Restricts the calling thread and its later children to the files and folders that `permissions`
/// names, with everything below them. Ignores missing paths. Newer kernels also refuse TCP (version
/// 4), and signals and abstract sockets to other processes (6). The memory and environment of other
/// processes become unreadable. False if the kernel refuses. Call prctl(PR_SET_NO_NEW_PRIVS) first.
bool landlock(const std::vector<FilePermission>& permissions);

}  // namespace kbench
