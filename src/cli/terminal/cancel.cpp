// SPDX-License-Identifier: MIT
#include "cli/terminal/cancel.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>

#include "cli/terminal/exit_code.hpp"
#include "kbench/error.hpp"

namespace kbench::cli {
namespace {

int signalled_fd = -1;
volatile std::sig_atomic_t seen = 0;

/// `timeout`, make and others forward a signal that the whole process group has already received. A
/// second Ctrl-C by a person comes later than this.
constexpr std::int64_t kSameSignal_ms = 500;
std::int64_t first_at_ms = 0;

std::int64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void on_signal(int) {
  if (seen != 0) {
    if (now_ms() - first_at_ms > kSameSignal_ms) _exit(kInterrupted);
    return;
  }
  first_at_ms = now_ms();
  seen = 1;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(signalled_fd, &one, sizeof one);
}

}  // namespace

int install_cancel() {
  signalled_fd = eventfd(0, EFD_CLOEXEC);
  if (signalled_fd < 0) throw Error("cannot create an eventfd for Ctrl-C");
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  // If `head` closes the pipe of a report, write() reports an error; the signal would end kbench.
  std::signal(SIGPIPE, SIG_IGN);
  // The same if a file reaches its size limit.
  std::signal(SIGXFSZ, SIG_IGN);
  return signalled_fd;
}

bool cancelled() { return seen != 0; }

}  // namespace kbench::cli
