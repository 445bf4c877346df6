// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "worker/timing/timing.hpp"

namespace kbench::worker {

/// A subject of known duration and noise, which records its blocks.
struct FakeSide {
  double true_ms = 1;
  double noise = 0;           ///< relative standard deviation
  double outliers = 0;        ///< fraction of calls that take ten times as long
  double block_noise = 0;     ///< the same, but one value for all calls of a block
  double switch_penalty = 1;  ///< factor on the first calls of a block
  int slow_calls = 0;         ///< number of these first calls
  std::vector<std::string>* order = nullptr;
  std::vector<int> blocks = {};
  std::mt19937_64 random = std::mt19937_64(1);

  std::vector<double> measure(const std::string& name, int calls) {
    blocks.push_back(calls);
    if (order != nullptr) order->push_back(name);
    std::normal_distribution<double> spread(1, noise);
    std::bernoulli_distribution outlier(outliers);
    std::vector<double> times;
    const double of_block = block_noise > 0 ? 1 + block_noise * (spread(random) - 1) / noise : 1;
    for (int i = 0; i < calls; ++i) {
      double ms = true_ms * of_block;
      if (noise > 0) ms *= std::max(0.01, spread(random));
      if (outliers > 0 && outlier(random)) ms *= 10;
      if (i < slow_calls) ms *= switch_penalty;
      times.push_back(ms);
    }
    return times;
  }
};

inline TimedSide side(const std::string& name, FakeSide& fake) {
  return {name, [&fake, name](Block block) {
            return fake.measure(name, block.discarded + block.counted);
          }};
}

inline TimedRun measure(const std::vector<TimedSide>& sides, const TimingLimits& limits = {}) {
  return measure_sides(sides, limits, [] { return DeviceState{.clock_mhz = 1500}; });
}

inline Speedup speedup(const TimedRun& run) {
  return speedup_of("eager", {run.measurements.at("eager"), run.block_sizes.at("eager")},
                    {run.measurements.at("candidate"), run.block_sizes.at("candidate")});
}

}  // namespace kbench::worker
