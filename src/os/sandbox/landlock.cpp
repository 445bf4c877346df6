// SPDX-License-Identifier: MIT
#include "os/sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kbench {
namespace {

// From linux/landlock.h, which older system headers lack.
constexpr std::uint64_t kExecute = 1u << 0;
constexpr std::uint64_t kWriteFile = 1u << 1;
constexpr std::uint64_t kReadFile = 1u << 2;
constexpr std::uint64_t kReadDir = 1u << 3;
constexpr std::uint64_t kTruncate = 1u << 14;
constexpr std::uint64_t kIoctlDevice = 1u << 15;
/// Rights that apply to files, not only to folders.
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;
constexpr std::uint64_t kTcp = 3;     // binding, connecting
constexpr std::uint64_t kScopes = 3;  // abstract sockets, signals
constexpr std::uint32_t kAskVersion = 1;
constexpr int kRulePathBeneath = 1;
constexpr long kCreateRuleset = 444;  // same number on all architectures
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;

struct Ruleset {
  std::uint64_t files, network, scopes;
};

struct __attribute__((packed)) PathBeneath {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};

/// The file rights that each Landlock version knows.
std::uint64_t file_rights(int abi) {
  if (abi >= 5) return (1u << 16) - 1;  // ioctl of devices
  if (abi >= 3) return (1u << 15) - 1;  // truncating
  if (abi >= 2) return (1u << 14) - 1;  // renaming across folders
  return (1u << 13) - 1;
}

std::uint64_t rights_of(FileAccess access) {
  switch (access) {
    case FileAccess::kRead:
      return kReadFile | kReadDir;
    case FileAccess::kReadExecute:
      return kReadFile | kReadDir | kExecute;
    case FileAccess::kDevice:
      return kReadFile | kReadDir | kWriteFile | kTruncate | kIoctlDevice;
    case FileAccess::kWrite:
      break;
  }
  return ~std::uint64_t{0};
}

}  // namespace

int landlock_abi() {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

bool landlock(const std::vector<FilePermission>& permissions) {
  const int abi = landlock_abi();
  if (abi == 0) return false;
  const Ruleset handled{file_rights(abi), kTcp, kScopes};
  // Older kernels accept only a shorter structure.
  const std::size_t size = abi >= kLandlockScopes ? 24 : abi >= 4 ? 16 : 8;
  const auto ruleset = static_cast<int>(::syscall(kCreateRuleset, &handled, size, 0));
  if (ruleset < 0) return false;
  for (const auto& [path, access] : permissions) {
    const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (fd < 0) continue;
    struct stat status {};
    const bool is_folder = ::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
    const std::uint64_t rights = rights_of(access) & handled.files;
    const PathBeneath rule{is_folder ? rights : rights & kOfFiles, fd};
    ::syscall(kAddRule, ruleset, kRulePathBeneath, &rule, 0);
    ::close(fd);
  }
  const bool restricted = ::syscall(kRestrictSelf, ruleset, 0) == 0;
  ::close(ruleset);
  return restricted;
}

}  // namespace kbench
