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
  bool is_success() const { return !signaled && code == 0; }
};

struct SpawnOptions {
  std::vector<std::string> command;                      ///< argv; command[0] is a path
  std::vector<std::pair<std::string, std::string>> env;  ///< set on top of the parent's
  std::vector<std::pair<int, int>> fds;                  ///< (ours, its number in the child)
};

/// A child process in a process group of its own. It is killed when the thread that started it
/// ends, because PR_SET_PDEATHSIG applies to threads. It inherits only standard output and error
/// and the descriptors in the options, and no signal mask. It can be moved. The destructor kills
/// the whole group and reaps the child.
class Child {
 public:
  Child() = default;
  /// Starts the child with standard input from /dev/null. Throws kbench::Error if it cannot be
  /// started or the program cannot be executed.
  explicit Child(const SpawnOptions& options);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();
  pid_t pid() const { return pid_; }
  /// A pidfd that becomes readable when the child ends.
  int pidfd() const { return pidfd_.value(); }
  /// Sends SIGKILL to the whole process group; does nothing after the child was reaped.
  void kill_group();
  /// Waits for the child's end, kills the rest of its process group, and reaps it. Later calls
  /// return the same status.
  ExitStatus wait();

 private:
  pid_t pid_ = -1;
  Fd pidfd_;
  bool reaped_ = false;
  ExitStatus status_;
};

/// How a command ended, and its output.
struct CommandResult {
  ExitStatus status;
  std::string output, error;
  bool timed_out = false;
  bool cancelled = false;
  bool is_success() const { return !timed_out && status.is_success(); }
};

/// Runs a command to its end with `input` as standard input. Keeps at most `max_output_bytes` of
/// each stream and drops the rest. Kills the process group at the limit, or as soon as `cancel_fd`,
/// if given, is readable. Does not wait for output that a descendant writes after the command's
/// end.
CommandResult run_command(const SpawnOptions& options, std::chrono::milliseconds limit,
                          std::string_view input = {}, std::size_t max_output_bytes = 1u << 20,
                          int cancel_fd = -1);

}  // namespace kbench
