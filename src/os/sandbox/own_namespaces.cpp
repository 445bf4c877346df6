// SPDX-License-Identifier: MIT
#include "os/sandbox/own_namespaces.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "kbench/error.hpp"
#include "os/sandbox/steps.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

/// A waiting process must not hold streams open, because their readers would never see the end.
void close_all_but(int fd) {
  const auto kept = static_cast<unsigned>(fd);
  if (kept > 0) ::syscall(SYS_close_range, 0u, kept - 1, 0u);
  ::syscall(SYS_close_range, kept + 1, ~0u, 0u);
}

/// True if the read end of this pipe is closed.
bool is_hung_up(int fd) {
  pollfd poll{fd, 0, 0};
  return ::poll(&poll, 1, 0) > 0;
}

/// Runs the namespace's first process: reaps all children, and reports how `child` ended.
[[noreturn]] void serve_as_init(pid_t child, int report) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  close_all_but(report);
  int status = 0;
  while (::waitpid(-1, &status, 0) != child) {
  }
  [[maybe_unused]] const ssize_t written = ::write(report, &status, sizeof status);
  ::_exit(0);
}

[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  sigset_t none;
  ::sigemptyset(&none);
  ::signal(number, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::kill(::getpid(), number);
  ::_exit(128 + number);
}

[[noreturn]] void wait_outside(pid_t init, int report) {
  close_all_but(report);
  int status = 0;
  const ssize_t count = retry_on_signal([&] { return ::read(report, &status, sizeof status); });
  // A killed init has reported nothing, so its own status is used.
  int of_init = 0;
  retry_on_signal([&] { return ::waitpid(init, &of_init, 0); });
  end_as(count == sizeof status ? status : of_init);
}

[[noreturn]] void fail_namespace(const char* what) {
  throw Error(std::string(what) + ": " + std::strerror(errno));
}

/// Call it after unshare(CLONE_NEWPID). Returns in the second process of the new namespace.
void go_on_inside() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_namespace("cannot create a pipe");
  Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const pid_t init = ::fork();
  if (init < 0) fail_namespace("cannot start the first process of a pid namespace");
  if (init > 0) {
    write_end.reset();
    wait_outside(init, read_end.value());
  }
  read_end.reset();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (is_hung_up(write_end.value())) ::_exit(0);  // the parent died before prctl took effect
  const pid_t child = ::fork();
  if (child < 0) fail_namespace("cannot start a process in a pid namespace");
  if (child > 0) serve_as_init(child, write_end.value());
}

}  // namespace

OwnNamespaces continue_in_namespaces() {
  OwnNamespaces own;
  own.net = unshare_network();
  own.pid = own.net && ::unshare(CLONE_NEWPID) == 0;
  if (own.pid) go_on_inside();
  return own;
}

}  // namespace kbench
