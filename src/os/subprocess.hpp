// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"

namespace kbench {

/// A connected pair of Unix stream sockets, both close-on-exec.
std::pair<Fd, Fd> socket_pair();

/// How a child ended.
struct ExitStatus {
  bool signaled = false;
  int code = 0;  ///< exit code, or the signal's number
};

struct SpawnOptions {
  std::vector<std::string> command;                      ///< argv; command[0] is a path
  std::vector<std::pair<std::string, std::string>> env;  ///< set on top of the parent's
  std::vector<std::pair<int, int>> fds;                  ///< (ours, child's number)
};

/// A child process in a process group of its own. It is killed when the thread that started it
/// ends, so with this process at the latest (PR_SET_PDEATHSIG counts threads). It inherits standard
/// output and error and the descriptors named in the options, no others, and no signal mask. Moving
/// is allowed; the destructor kills the whole group and reaps it.
class Child {
 public:
  Child() = default;
  /// Starts it with standard input from /dev/null. Throws kbench::Error where it cannot be started,
  /// also where the program cannot be executed.
  explicit Child(const SpawnOptions& options);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();
  pid_t pid() const { return pid_; }
  /// A pidfd that becomes readable when the child ends.
  int pidfd() const { return pidfd_.value(); }
  /// SIGKILL to the whole process group; nothing once it has been reaped.
  void kill_group();
  /// Waits for the end, kills what is left of the process group, and reaps. Once waited for, the
  /// same status is returned again.
  ExitStatus wait();

 private:
  pid_t pid_ = -1;
  Fd pidfd_;
  bool reaped_ = false;
  ExitStatus status_;
};

/// What a finished command printed and how it ended.
struct CommandResult {
  ExitStatus status;
  std::string output, error;
  bool timed_out = false;
  bool cancelled = false;
};

/// Runs a command to its end with a limit, its standard input holding `input`; at most
/// `max_output_bytes` of each stream are kept, the rest is read and dropped. The process group is
/// killed at the limit, and as soon as `cancel_fd`, if given, is readable. What a descendant writes
/// after the command's own end is not waited for.
CommandResult run_command(const SpawnOptions& options, std::chrono::milliseconds limit,
                          std::string_view input = {}, std::size_t max_output_bytes = 1u << 20,
                          int cancel_fd = -1);

}  // namespace kbench
