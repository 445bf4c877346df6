// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

namespace kbench::run {

/// Measures how long processes wait for a CPU from construction on. Only the first thread of each
/// process counts, because it makes the timed calls.
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

/// The flag of a record without times because other processes of the host delayed its host code.
inline constexpr const char* kHostBusy = "host_busy";
/// From this fraction on, times are discarded. One other process per CPU, such as a compiler, stays
/// below it.
inline constexpr double kMostHostWaits = 0.6;

}  // namespace kbench::run
