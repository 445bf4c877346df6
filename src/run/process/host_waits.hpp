// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

namespace kbench::run {

/// Measures how long processes wait for a CPU, from construction on. Measures only the first thread
/// of each process, which makes the timed calls.
class HostWaits {
 public:
  explicit HostWaits(std::vector<pid_t> pids);
  /// The time that they waited, as a fraction of the time since construction; 0 if the kernel does
  /// not report it.
  double share() const;

 private:
  double waited_s() const;

  std::vector<pid_t> pids_;
  std::chrono::steady_clock::time_point start_;
  double before_s_;
};

/// The flag of a record without times, because other processes on the host delayed its host code.
inline constexpr const char* kHostBusy = "host_busy";
/// At this fraction or more, times are discarded. One other process per CPU, such as a compiler,
/// causes less.
inline constexpr double kMostHostWaits = 0.6;

}  // namespace kbench::run
