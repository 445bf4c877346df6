// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kbench {

/// A file descriptor that closes itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }
  int value() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

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

/// A child process in a process group of its own that dies with this process. Moving is allowed;
/// the destructor kills the whole group and reaps it.
class Child {
 public:
  Child() = default;
  /// Starts it with standard input from /dev/null. Throws kbench::Error where it cannot be started.
  explicit Child(const SpawnOptions& options);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();
  pid_t pid() const { return pid_; }
  /// A pidfd that becomes readable when the child ends.
  int pidfd() const { return pidfd_.value(); }
  /// SIGKILL to the whole process group.
  void kill_group();
  /// Waits for the end and reaps.
  ExitStatus wait();

 private:
  pid_t pid_ = -1;
  Fd pidfd_;
};

/// What a finished command printed and how it ended.
struct CommandResult {
  ExitStatus status;
  std::string output, error;
  bool timed_out = false;
};

/// Runs a command to its end with a limit; at most `max_output_bytes` of each stream are kept.
CommandResult run_command(const SpawnOptions& options, std::chrono::milliseconds limit,
                          std::string_view input = {}, std::size_t max_output_bytes = 1u << 20);

}  // namespace kbench
