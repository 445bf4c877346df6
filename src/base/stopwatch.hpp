// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

namespace kbench {

/// Wall-clock seconds by name of a phase; times of a repeated phase add up.
using Phases = std::map<std::string, double, std::less<>>;

/// Divides a stretch of time into named phases without gaps.
class Stopwatch {
 public:
  explicit Stopwatch(Phases& phases) : phases_(phases) {}

  /// Ends the phase that began at the last call, or at construction.
  void lap(std::string_view phase) {
    const auto now = std::chrono::steady_clock::now();
    phases_[std::string(phase)] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  Phases& phases_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace kbench
