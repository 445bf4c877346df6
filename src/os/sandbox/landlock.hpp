// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kbench {

/// What may be done with a file, or with all that lies below a folder.
enum class FileAccess : std::uint8_t {
  kRead,
  kReadExecute,
  kWrite,   ///< all: reading, making, removing and executing files
  kDevice,  ///< reading, writing and ioctl of what is there
};

struct FilePermission {
  std::string path;
  FileAccess access;
};

/// Version of the kernel's Landlock; 0: it has none.
int landlock_abi();

/// From version 6 on, nobody outside can be sent signals or be reached by abstract Unix sockets.
inline constexpr int kLandlockScopes = 6;

/// From here on the calling thread, and what it starts, opens only files that a permission names
/// or that lie below one; paths that are not there are left out. What newer kernels can refuse
/// besides is refused, too: TCP (version 4), signals and abstract sockets to others (6). Other
/// processes' memory and environment can no longer be read. False where the kernel refuses.
/// prctl(PR_SET_NO_NEW_PRIVS) has to come before.
bool landlock(const std::vector<FilePermission>& permissions);

}  // namespace kbench
