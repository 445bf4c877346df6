// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kbench/record.hpp"
#include "worker/device/device_state.hpp"

namespace kbench::worker {

/// A subject of a timing: a baseline, or the candidate.
struct TimedSide {
  std::string name;  ///< "candidate", "eager", "compile"
  /// Runs a block of calls. Returns the milliseconds of a call, as the mean over the block.
  std::function<double()> measure;
};

/// Limits of a timing.
struct TimingLimits {
  double budget_s = 0.5;      ///< stops near this, if there are enough measurements
  int min_measurements = 10;  ///< of each subject; at most six if a call takes above 12 ms
  int max_measurements = 400;
  double target_rel_ci = 0.01;  ///< half-width of the ratio's 95 % interval
  bool rough = false;           ///< four measurements of each: on a CPU
};

/// Raw measurements of all subjects, in milliseconds, and the device's state after each.
struct TimedRun {
  std::map<std::string, std::vector<double>> measurements;
  std::map<std::string, std::vector<DeviceState>> states;
};

/// Measures all subjects in turn (A B B A …). Repeats a turn in which the device's clocks differ.
/// Stops if the ratio of the last subject to each other one is precise enough.
TimedRun measure_sides(const std::vector<TimedSide>& sides, const TimingLimits& limits,
                       const std::function<DeviceState()>& state);

/// Removes the measurements in which the device was throttled. If a subject has fewer than two
/// others, all stay, because one measurement says nothing about the next.
void set_throttled_aside(TimedRun& run);

/// Median, mean, standard deviation, quartiles and extremes of measurements, and the 95 % interval
/// of the median by the bootstrap of speedup_of(). Fewer than six measurements have no interval,
/// because their extremes need not enclose the median.
SideTiming summarize(const std::vector<double>& measurements_ms);
double median(std::vector<double> values);
double mean(std::vector<double> values);

/// Ratio of the medians, baseline over candidate, with a 95 % interval by bootstrap. A measurement
/// is a block of calls, because calls of one block resemble each other (clocks, caches, other work
/// of the machine). In comparisons of H200 kernels with themselves at 95 %, a bootstrap of single
/// calls found a difference in 12 to 24 %, and one of blocks in 1 to 4 %.
Speedup speedup_of(const std::string& baseline, const std::vector<double>& baseline_ms,
                   const std::vector<double>& candidate_ms);

/// Ratio of the means, by KernelBench's rules.
Speedup speedup_of_means(const std::string& baseline, const std::vector<double>& baseline_ms,
                         const std::vector<double>& candidate_ms);

}  // namespace kbench::worker
