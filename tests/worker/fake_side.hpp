// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "worker/timing/timing.hpp"

namespace kbench::worker {

/// A subject of known duration and noise, which counts its measurements.
struct FakeSide {
  double true_ms = 1;
  double noise = 0;     ///< relative standard deviation
  double outliers = 0;  ///< fraction of measurements that take ten times as long
  std::vector<std::string>* order = nullptr;
  int count = 0;
  std::mt19937_64 random = std::mt19937_64(1);

  double measure(const std::string& name) {
    ++count;
    if (order != nullptr) order->push_back(name);
    std::normal_distribution<double> spread(1, noise);
    std::bernoulli_distribution outlier(outliers);
    double ms = true_ms;
    if (noise > 0) ms *= std::max(0.01, spread(random));
    if (outliers > 0 && outlier(random)) ms *= 10;
    return ms;
  }
};

inline TimedSide side(const std::string& name, FakeSide& fake) {
  return {name, [&fake, name] { return fake.measure(name); }};
}

inline TimedRun measure(const std::vector<TimedSide>& sides, const TimingLimits& limits = {}) {
  return measure_sides(sides, limits, [] { return DeviceState{.clock_mhz = 1500}; });
}

inline Speedup speedup(const TimedRun& run) {
  return speedup_of("eager", run.measurements.at("eager"), run.measurements.at("candidate"));
}

}  // namespace kbench::worker
