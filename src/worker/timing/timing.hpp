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

/// Calls of one side without a switch to another.
struct Block {
  int discarded = 0;  ///< the first ones, which tell more of the switch than of the call
  int counted = 0;
};

/// One side of a comparison in time: a baseline, or the candidate.
struct TimedSide {
  std::string name;  ///< "candidate", "eager", "compile"
  /// Runs the calls of a block and gives the milliseconds of each, in order.
  std::function<std::vector<double>(Block)> measure;
  double about_ms = 0;  ///< what a call takes, where that is known; one that is long needs no probe
  int max_counted = std::numeric_limits<int>::max();  ///< in a block
  int max_calls = std::numeric_limits<int>::max();    ///< in a block, with those that are discarded
};

/// When to stop, and how much one block holds.
struct TimingLimits {
  double budget_s = 0.5;      ///< measuring stops nearest to this, once there are enough
  int min_measurements = 10;  ///< of each side; of calls above 12 ms six, within the same limits
  int max_measurements = 400;
  /// Blocks of each side before it is precise enough, where bounds count, of which a block has one;
  /// four of them whatever the budget says.
  std::size_t min_blocks = 0;
  bool discard = true;          ///< the first calls of a block
  double target_rel_ci = 0.01;  ///< half-width of the ratio's 95 % interval
  bool rough = false;           ///< four calls of each, none discarded: for what is no measure
};

/// Raw measurements of all sides, in milliseconds.
struct TimedRun {
  std::map<std::string, std::vector<double>> measurements;
  std::map<std::string, std::size_t> block_sizes;          ///< of these, one after another
  std::map<std::string, std::vector<DeviceState>> states;  ///< at the end of each block
};

/// Measures all sides in alternating blocks (A B B A …), the first calls after each switch
/// discarded, until the ratio of the last side to each other one is known well enough.
TimedRun measure_sides(const std::vector<TimedSide>& sides, const TimingLimits& limits,
                       const std::function<DeviceState()>& state);

/// Of each side, whether each of its blocks was set aside; empty where all stay.
using SetAside = std::map<std::string, std::vector<bool>, std::less<>>;

/// Of one block nothing can be told of the next.
inline constexpr std::ptrdiff_t kFewestUnthrottled = 2;

/// Sets aside the blocks in which the device was throttled, with their states; where a side has
/// fewer others than `fewest`, all stay.
SetAside set_throttled_aside(TimedRun& run, std::ptrdiff_t fewest = kFewestUnthrottled);

/// Measurements of one side in the order in which they were made.
struct Series {
  const std::vector<double>& ms;
  std::size_t block = 1;  ///< how many were made without a switch to another side
};

/// Median, mean, standard deviation, quartiles and extremes of measurements, and the 95 % interval
/// of the median by the bootstrap of speedup_of(); none of a single block, which tells nothing of
/// others, and of fewer than six measurements, whose extremes need not hold it.
SideTiming summarize(const Series& series);
double median(std::vector<double> values);
double mean(std::vector<double> values);
/// Mean of the middle half, which is finer than the median of what a coarse clock tells.
double midmean(std::vector<double> values);

/// baseline over candidate, ratio of medians, with a 95 % interval by a bootstrap in two stages:
/// blocks, and measurements in each. Those of a block are alike (clocks, caches, what the machine
/// does besides): of a kernel against itself on an H200 a bootstrap of single measurements told
/// 12 to 24 % apart at 95 %, this one 1 to 4 % (46 sides, two to eight blocks each).
Speedup speedup_of(const std::string& baseline, const Series& baseline_ms,
                   const Series& candidate_ms);

/// The same of means, as KernelBench has it.
Speedup speedup_of_means(const std::string& baseline, const std::vector<double>& baseline_ms,
                         const std::vector<double>& candidate_ms);

}  // namespace kbench::worker
