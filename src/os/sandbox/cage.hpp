// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What holds a process back that runs somebody else's code. All of it works without privileges;
/// what a kernel lacks or refuses is left out and can be named.
namespace kbench {

/// One thing that the cage is made of.
enum class CagePart : std::uint8_t {
  kSession,       ///< a session and a process group of its own
  kPidNamespace,  ///< sees no process but its own, and dies with all that it started
  kNetNamespace,  ///< no network, and nobody else's abstract sockets
  kPrivileges,    ///< no capabilities, and none to be had from set-uid programs
  kFiles,         ///< Landlock: files from a list, nobody else's memory and environment
  kScopes,        ///< Landlock 6: no signals and no abstract sockets to others
  kSystemCalls,   ///< a seccomp filter
  kLimits,        ///< size of a file, open files, no core files; the first to go without memory
  kProcessLimit,  ///< number of processes and threads
  kTemporary,     ///< a private /tmp and /var/tmp
};

/// Names of the folders of temporary files that a caged process has for itself (kTemporary).
std::span<const char* const> temporary_folders();

/// One row for each part: its name in run files, and what to do where a machine lacks it.
struct CagePartRow {
  CagePart part;
  std::string_view name, advice;
};
std::span<const CagePartRow> cage_parts();

/// A set of parts.
class CageParts {
 public:
  void add(CagePart part) { bits_ |= bit(part); }
  bool has(CagePart part) const { return (bits_ & bit(part)) != 0; }
  std::uint32_t bits() const { return bits_; }
  static CageParts from_bits(std::uint32_t bits) {
    CageParts parts;
    parts.bits_ = bits;
    return parts;
  }

 private:
  static std::uint32_t bit(CagePart part) { return 1u << static_cast<unsigned>(part); }
  std::uint32_t bits_ = 0;
};

/// What a caged process may reach.
struct CageSetup {
  std::filesystem::path folder;  ///< its own: what it writes lies there, and in its own /tmp
  std::vector<std::filesystem::path> readable;  ///< besides the system's programs and libraries
};

/// Forks processes for cages, each in namespaces of its own where the kernel allows that. For a
/// process of one thread.
class CageForker {
 public:
  CageForker();
  ~CageForker();
  CageForker(const CageForker&) = delete;
  CageForker& operator=(const CageForker&) = delete;

  /// As fork(): the child's number, 0 in the child, which leads a session of its own, and -1 with
  /// errno (EAGAIN: there were namespaces before, and for two seconds there have been none). The
  /// number is this process's name for it; it has another one for itself.
  pid_t fork();
  /// The same for a process that is not to be caged.
  pid_t fork_plainly();
  /// In the child: puts the cage on, all of it that can be had. Only the calling thread may run.
  CageParts enter(const CageSetup& setup);

  /// What waitpid() tells of a child may be that of the helper which has forked it, and which ends
  /// when the child and all that it started have ended: gives the child's own number and status.
  struct Ended {
    pid_t pid;
    int status;
  };
  Ended reaped(pid_t pid, int status);

 private:
  struct Helper;
  pid_t fork_by_helper();

  bool helpers_work_;                                 ///< nothing has spoken against them so far
  bool helped_ = false;                               ///< once at least
  std::map<pid_t, std::unique_ptr<Helper>> helpers_;  ///< by their numbers
  std::unique_ptr<Helper> mine_;                      ///< in the child: what forked it
};

/// In a caged process: from here on the calling thread, and what it starts, opens nothing of the
/// cage's list any more whose path begins with one of these. What is open stays so. False where the
/// kernel refuses; nothing is done outside of a cage, or in one without files. What lies in the
/// process's own folder and its own /tmp stays open by those.
bool narrow_cage(std::span<const std::string_view> prefixes);
/// The same for GPUs, and all threads of this process are refused the requests to the driver that
/// make a context (GpuRequest). A process that is stopped computes on with what it has queued in a
/// context of which nobody knows, its own second one or a child's: once it has its context it needs
/// no other. False where the kernel refuses either; nothing is done outside of a cage.
bool close_gpus();

/// What this machine gives for a cage, found out by putting one on.
CageParts probe_cage();

}  // namespace kbench
