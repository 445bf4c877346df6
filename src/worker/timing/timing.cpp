// SPDX-License-Identifier: MIT
#include "worker/timing/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace kbench::worker {
namespace {

constexpr int kResamples = 1000;
/// Subjects with longer calls need fewer measurements, because these differ less and take long.
constexpr double kLong_ms = 12;
/// If the multiprocessors' clocks of two measurements differ by more than this factor, they are
/// repeated: at most so often in a timing, because the clocks of a hot GPU always differ.
constexpr double kAlikeClocks = 1.01;
constexpr int kMostRepeats = 10;
/// The number of measurements without a meaning (TimingLimits::rough).
constexpr std::size_t kRoughMeasurements = 4;
/// The fewest measurements whose extremes enclose the median with a probability of 95 %
/// (1 − 2 · 0.5⁶ = 0.97).
constexpr int kFewestOfLongCalls = 6;

struct Interval {
  double value, lo, hi;
};

/// Draws as many measurements as there are, with repeats.
template <typename Random>
std::vector<double> resampled(const std::vector<double>& measurements, Random& random) {
  std::uniform_int_distribution<std::size_t> pick(0, measurements.size() - 1);
  std::vector<double> sample(measurements.size());
  for (double& ms : sample) ms = measurements[pick(random)];
  return sample;
}

/// The factor by which an interval from this number of measurements is too narrow. Few resampled
/// ones spread less than new ones. They also say little about the spread of new ones; Student's t
/// of two equal subjects corrects that. Without t, 11 of 196 comparisons of H200 kernels with
/// themselves found a difference; with t, 3 did.
double widening(std::size_t measurements) {
  if (measurements < 2) return 1;
  constexpr double kNormal = 1.960;
  constexpr double kStudent[] = {4.303, 2.776, 2.447, 2.306, 2.228, 2.179, 2.145, 2.120,
                                 2.101, 2.086, 2.074, 2.064, 2.056, 2.048, 2.042};
  // 2 · measurements − 2 degrees of freedom; the first row is for 2
  const std::size_t row = measurements - 2;
  const double student = row < std::size(kStudent) ? kStudent[row] : kNormal;
  const auto count = static_cast<double>(measurements);
  return std::sqrt(count / (count - 1)) * student / kNormal;
}

/// The 95 % interval of `value`. `draw`: computes the value from data that it resamples.
/// `measurements`: their number in the data.
Interval bootstrap(double value, std::size_t measurements,
                   const std::function<double(std::mt19937_64&)>& draw) {
  std::mt19937_64 random(20240229);  // fixed: equal measurements give an equal interval
  std::vector<double> values(kResamples);
  for (auto& drawn : values) drawn = draw(random);
  std::sort(values.begin(), values.end());
  const double wider = widening(measurements);
  const auto end = [&](double drawn) { return value * std::pow(drawn / value, wider); };
  return {value, end(values[kResamples / 40]), end(values[kResamples - 1 - kResamples / 40])};
}

Interval bootstrap_ratio(const std::vector<double>& numerator,
                         const std::vector<double>& denominator,
                         double (*middle)(std::vector<double>) = median) {
  return bootstrap(middle(numerator) / middle(denominator),
                   std::min(numerator.size(), denominator.size()), [&](auto& random) {
                     const double above = middle(resampled(numerator, random));
                     return above / middle(resampled(denominator, random));
                   });
}

bool precise_enough(const TimedRun& run, const std::vector<TimedSide>& sides, double target) {
  const auto& last = run.measurements.at(sides.back().name);
  if (sides.size() == 1) {
    const SideTiming alone = summarize(last);
    return alone.lo_ms && (*alone.hi_ms - *alone.lo_ms) / 2 <= target * alone.median_ms;
  }
  return std::all_of(sides.begin(), sides.end() - 1, [&](const TimedSide& side) {
    const Interval ratio = bootstrap_ratio(run.measurements.at(side.name), last);
    return (ratio.hi - ratio.lo) / 2 <= target * ratio.value;
  });
}

}  // namespace

TimedRun measure_sides(const std::vector<TimedSide>& sides, const TimingLimits& limits,
                       const std::function<DeviceState()>& state) {
  TimedRun run;
  const auto measure = [&](const TimedSide& side) {
    run.measurements[side.name].push_back(side.measure());
    run.states[side.name].push_back(state());
  };
  int repeats = 0;
  const auto measure_each = [&](auto begin, auto end) {
    while (true) {
      double least_mhz = std::numeric_limits<double>::infinity(), most_mhz = 0;
      for (auto side = begin; side != end; ++side) {
        measure(*side);
        const double mhz = run.states.at(side->name).back().clock_mhz;
        least_mhz = std::min(least_mhz, mhz);
        most_mhz = std::max(most_mhz, mhz);
      }
      if (most_mhz <= kAlikeClocks * least_mhz || repeats == kMostRepeats) return;
      ++repeats;
      for (auto side = begin; side != end; ++side) {
        run.measurements.at(side->name).pop_back();
        run.states.at(side->name).pop_back();
      }
    }
  };
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  const auto start = Clock::now();
  while (true) {
    const auto round_start = Clock::now();
    measure_each(sides.begin(), sides.end());
    measure_each(sides.rbegin(), sides.rend());
    const std::size_t count = run.measurements.at(sides.front().name).size();
    if (limits.rough) {
      if (count >= kRoughMeasurements) return run;
      continue;
    }
    const bool is_long = std::ranges::any_of(
        run.measurements, [](const auto& side) { return median(side.second) > kLong_ms; });
    const int least =
        is_long ? std::min(kFewestOfLongCalls, limits.min_measurements) : limits.min_measurements;
    if (count < static_cast<std::size_t>(least)) continue;
    // Stops before a round of which more than half would exceed the budget.
    const bool is_spent = since(start) + since(round_start) / 2 > limits.budget_s;
    if (is_spent || count >= static_cast<std::size_t>(limits.max_measurements)) return run;
    if (precise_enough(run, sides, limits.target_rel_ci)) return run;
  }
}

void set_throttled_aside(TimedRun& run) {
  constexpr std::ptrdiff_t kFewest = 2;
  for (const auto& [side, states] : run.states)
    if (std::ranges::count(states, false, &DeviceState::throttled) < kFewest) return;
  for (auto& [side, states] : run.states) {
    std::vector<double>& measurements = run.measurements.at(side);
    std::vector<double> kept_measurements;
    std::vector<DeviceState> kept_states;
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (states[i].throttled()) continue;
      kept_measurements.push_back(measurements[i]);
      kept_states.push_back(states[i]);
    }
    measurements = std::move(kept_measurements);
    states = std::move(kept_states);
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double mean(std::vector<double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

SideTiming summarize(const std::vector<double>& measurements_ms) {
  SideTiming timing;
  const auto count = static_cast<double>(measurements_ms.size());
  timing.count = static_cast<std::int64_t>(measurements_ms.size());
  timing.median_ms = median(measurements_ms);
  timing.mean_ms = mean(measurements_ms);
  double squares = 0;
  for (const double ms : measurements_ms) squares += (ms - timing.mean_ms) * (ms - timing.mean_ms);
  timing.std_ms = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  std::vector<double> sorted = measurements_ms;
  std::ranges::sort(sorted);
  const auto quartile = [&](double share) {
    return sorted[static_cast<std::size_t>(std::lround(share * (count - 1)))];
  };
  timing.q1_ms = quartile(0.25);
  timing.q3_ms = quartile(0.75);
  const auto [low, high] = std::minmax_element(measurements_ms.begin(), measurements_ms.end());
  timing.min_ms = *low;
  timing.max_ms = *high;
  if (timing.count < kFewestOfLongCalls) return timing;
  const Interval interval = bootstrap(timing.median_ms, measurements_ms.size(), [&](auto& random) {
    return median(resampled(measurements_ms, random));
  });
  timing.lo_ms = interval.lo;
  timing.hi_ms = interval.hi;
  return timing;
}

Speedup speedup_of(const std::string& baseline, const std::vector<double>& baseline_ms,
                   const std::vector<double>& candidate_ms) {
  const Interval ratio = bootstrap_ratio(baseline_ms, candidate_ms);
  return {baseline, ratio.value, ratio.lo, ratio.hi};
}

Speedup speedup_of_means(const std::string& baseline, const std::vector<double>& baseline_ms,
                         const std::vector<double>& candidate_ms) {
  const Interval ratio = bootstrap_ratio(baseline_ms, candidate_ms, mean);
  return {baseline, ratio.value, ratio.lo, ratio.hi};
}

}  // namespace kbench::worker
