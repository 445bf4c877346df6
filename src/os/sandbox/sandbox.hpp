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

/// The sandbox of a process that runs a candidate's code. It needs no privileges. Parts that a
/// kernel lacks or refuses are left out, and the parts in use can be listed.
namespace kbench {

/// One part of the sandbox.
enum class SandboxPart : std::uint8_t {
  kSession,       ///< its own session and process group
  kPidNamespace,  ///< sees only its own processes, which all die with it
  kNetNamespace,  ///< no network, and no abstract sockets of outside processes
  kPrivileges,    ///< no capabilities, and none from set-uid programs
  kFiles,         ///< Landlock: files from a list; no memory or environment of others
  kScopes,        ///< Landlock 6: no signals and no abstract sockets to outside processes
  kSystemCalls,   ///< a seccomp filter
  kLimits,        ///< file size, open files, no core files; first to be killed
  kProcessLimit,  ///< number of processes and threads
  kTemporary,     ///< a private /tmp and /var/tmp
};

/// The folders of temporary files that are private to a sandboxed process (kTemporary).
std::span<const char* const> temporary_folders();

/// One part: its name in run files, and what to do if a machine lacks it.
struct SandboxPartRow {
  SandboxPart part;
  std::string_view name, advice;
};
std::span<const SandboxPartRow> sandbox_parts();

/// A set of parts.
class SandboxParts {
 public:
  void add(SandboxPart part) { bits_ |= bit(part); }
  bool has(SandboxPart part) const { return (bits_ & bit(part)) != 0; }
  std::uint32_t bits() const { return bits_; }
  static SandboxParts from_bits(std::uint32_t bits) {
    SandboxParts parts;
    parts.bits_ = bits;
    return parts;
  }

 private:
  static std::uint32_t bit(SandboxPart part) { return 1u << static_cast<unsigned>(part); }
  std::uint32_t bits_ = 0;
};

/// The files that a sandboxed process may use.
struct SandboxSetup {
  std::filesystem::path folder;                 ///< the only writable one, besides its own /tmp
  std::vector<std::filesystem::path> readable;  ///< besides system programs and libraries
};

/// Forks processes for the sandbox, each in namespaces of its own if the kernel allows it. The
/// calling process must have one thread.
class SandboxForker {
 public:
  SandboxForker();
  ~SandboxForker();
  SandboxForker(const SandboxForker&) = delete;
  SandboxForker& operator=(const SandboxForker&) = delete;

  /// Like fork(): returns the child's PID, 0 in the child, or -1 with errno. The child leads its
  /// own session. EAGAIN: namespaces worked before and have failed for two seconds. The PID is
  /// valid in this process; the child sees another one.
  pid_t fork();
  /// The same for a process without a sandbox.
  pid_t fork_plainly();
  /// In the child: enters the sandbox and returns the parts that worked. Only the calling thread
  /// may run.
  SandboxParts enter(const SandboxSetup& setup);

  /// Translates a result of waitpid(), which may come from the helper that forked the child. The
  /// helper ends after the child and its descendants. Returns the child's own PID and status.
  struct Ended {
    pid_t pid;
    int status;
  };
  Ended reaped(pid_t pid, int status);

 private:
  struct Helper;
  pid_t fork_by_helper();

  bool helpers_work_;                                 ///< false if the first one failed
  bool helped_ = false;                               ///< at least one helper worked
  std::map<pid_t, std::unique_ptr<Helper>> helpers_;  ///< by their PIDs
  std::unique_ptr<Helper> mine_;                      ///< in the child: the helper that forked it
};

/// In a sandboxed process: forbids paths with these prefixes. The calling thread and its later
/// children can no longer open them; open files stay open. Paths in the process's own folder and
/// its own /tmp stay allowed. False if the kernel refuses. Does nothing without a sandbox or its
/// `files` part.
bool narrow_sandbox(std::span<const std::string_view> prefixes);
/// The same for GPUs. Also refuses, for all threads, the driver requests that make a context
/// (GpuRequest). A process needs only one context. A second one, or a child's, is unknown to
/// kbench, so work queued in it would run on while the process is stopped. False if the kernel
/// refuses either. Does nothing without a sandbox.
bool close_gpus();

/// The parts of the sandbox that this machine supports, found by entering one.
SandboxParts probe_sandbox();

}  // namespace kbench
