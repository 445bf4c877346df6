// SPDX-License-Identifier: MIT
#include "run/process/host_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace kbench::run {

HostWaits::HostWaits(std::vector<pid_t> pids)
    : pids_(std::move(pids)), start_(std::chrono::steady_clock::now()), before_s_(waited_s()) {}

double HostWaits::waited_s() const {
  double nanoseconds = 0;
  for (const pid_t pid : pids_) {
    // Fields: time on a CPU, time in a run queue, number of time slices.
    std::ifstream file(fmt::format("/proc/{}/schedstat", pid));
    double ran = 0, waited = 0;
    if (file >> ran >> waited) nanoseconds += waited;
  }
  return nanoseconds / 1e9;
}

double HostWaits::share() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  // /proc reports nothing for a process that has ended, so the difference may be negative.
  return elapsed.count() > 0 ? std::max(waited_s() - before_s_, 0.0) / elapsed.count() : 0;
}

}  // namespace kbench::run
