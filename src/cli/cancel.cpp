// SPDX-License-Identifier: MIT
#include "cli/cancel.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

#include "kbench/error.hpp"

namespace kbench::cli {
namespace {

constexpr int kInterrupted = 130;
int cancel_fd = -1;
volatile std::sig_atomic_t seen = 0;

void on_signal(int) {
  if (seen != 0) _exit(kInterrupted);
  seen = 1;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(cancel_fd, &one, sizeof one);
}

}  // namespace

int install_cancel() {
  cancel_fd = eventfd(0, EFD_CLOEXEC);
  if (cancel_fd < 0) throw Error("no eventfd to be told of Ctrl-C by");
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  // A report piped into `head` ends by an error from write, not by a signal.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a file that may grow no further.
  std::signal(SIGXFSZ, SIG_IGN);
  return cancel_fd;
}

bool cancelled() { return seen != 0; }

}  // namespace kbench::cli
