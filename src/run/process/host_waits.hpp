// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

namespace kbench::run {

/// How long processes have waited for a processor since this was made: of each its first thread,
/// which calls what is timed.
class HostWaits {
 public:
  explicit HostWaits(std::vector<pid_t> pids);
  /// Of the time since; 0 where the kernel does not tell.
  double share() const;

 private:
  double waited_s() const;

  std::vector<pid_t> pids_;
  std::chrono::steady_clock::time_point start_;
  double before_s_;
};

/// The flag of a record without times because its host code had to wait for others of the host.
inline constexpr const char* kHostBusy = "host_busy";
/// From here on times are none. One other process on each processor, as compilers are, stays below.
inline constexpr double kMostHostWaits = 0.6;

}  // namespace kbench::run
