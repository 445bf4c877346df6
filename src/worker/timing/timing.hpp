// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "kbench/record.hpp"
#include "worker/device/device_state.hpp"

namespace kbench::worker {

/// Calls of one subject without a switch to another subject.
struct Block {
  int discarded = 0;  ///< the first calls, whose times depend more on the switch
  int counted = 0;
};

/// A subject of a timing: a baseline, or the candidate.
struct TimedSide {
  std::string name;  ///< "candidate", "eager", "compile"
  /// Runs the calls of a block. Returns the milliseconds of each, in order.
  std::function<std::vector<double>(Block)> measure;
  double about_ms = 0;  ///< known time of a call; 0 if unknown. A long call is not measured first
  int max_counted = std::numeric_limits<int>::max();  ///< in a block
  int max_calls = std::numeric_limits<int>::max();    ///< in a block, discarded calls included
};

/// Limits of a timing and of its blocks.
struct TimingLimits {
  double budget_s = 0.5;      ///< stops near this, if there are enough measurements
  int min_measurements = 10;  ///< of each subject; at most six if a call takes above 12 ms
  int max_measurements = 400;
  /// The fewest blocks of each subject for a precise result, if each block gives one wall-clock
  /// bound; else 0. Up to four blocks are measured even if they exceed the budget.
  std::size_t min_blocks = 0;
  bool discard = true;          ///< discards the first calls of a block
  double target_rel_ci = 0.01;  ///< half-width of the ratio's 95 % interval
  bool rough = false;           ///< four calls of each, none discarded: on a CPU
};

/// Raw measurements of all subjects, in milliseconds.
struct TimedRun {
  std::map<std::string, std::vector<double>> measurements;
  std::map<std::string, std::size_t> block_sizes;          ///< measurements in each block
  std::map<std::string, std::vector<DeviceState>> states;  ///< at the end of each block
};

/// Measures all subjects in alternating blocks (A B B A …), and discards the first calls after each
/// switch. Stops if the ratio of the last subject to each other one is precise enough.
TimedRun measure_sides(const std::vector<TimedSide>& sides, const TimingLimits& limits,
                       const std::function<DeviceState()>& state);

/// For each subject and each of its blocks: true if the block does not count. Empty if all count.
using SetAside = std::map<std::string, std::vector<bool>, std::less<>>;

/// One block says nothing about the next.
inline constexpr std::ptrdiff_t kFewestUnthrottled = 2;

/// Removes the blocks in which the device was throttled, and their states. If a subject has fewer
/// than `fewest` other blocks, all blocks stay.
SetAside set_throttled_aside(TimedRun& run, std::ptrdiff_t fewest = kFewestUnthrottled);

/// Measurements of one subject, in the order of time.
struct Series {
  const std::vector<double>& ms;
  std::size_t block = 1;  ///< measurements without a switch to another subject
};

/// Median, mean, standard deviation, quartiles and extremes of measurements, and the 95 % interval
/// of the median by the bootstrap of speedup_of(). A single block has no interval, because it says
/// nothing about other blocks. Fewer than six measurements have none, because their extremes need
/// not enclose the median.
SideTiming summarize(const Series& series);
double median(std::vector<double> values);
double mean(std::vector<double> values);
/// Mean of the middle half. For times of a coarse clock it is more precise than the median.
double midmean(std::vector<double> values);

/// Ratio of the medians, baseline over candidate, with a 95 % interval. The interval is a bootstrap
/// in two stages, blocks and then measurements in each, because measurements of one block resemble
/// each other (clocks, caches, other work of the machine). In comparisons of H200 kernels with
/// themselves at 95 %, a bootstrap of single measurements found a difference in 12 to 24 %, and
/// this one in 1 to 4 % (46 subjects, two to eight blocks each).
Speedup speedup_of(const std::string& baseline, const Series& baseline_ms,
                   const Series& candidate_ms);

/// Ratio of the means, by KernelBench's rules.
Speedup speedup_of_means(const std::string& baseline, const std::vector<double>& baseline_ms,
                         const std::vector<double>& candidate_ms);

}  // namespace kbench::worker
