// SPDX-License-Identifier: MIT
#include "worker/timing/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>

namespace kbench::worker {
namespace {

constexpr int kResamples = 1000;
/// Calls longer than these get shorter blocks, because caches and translation buffers after a
/// switch between processes hardly change their times. The call that decides this may itself take
/// twice as long as usual.
constexpr double kLong_ms = 4;
constexpr double kLonger_ms = 12;
/// If calls are longer than this, blocks have no discarded calls, so that a slow candidate does not
/// take minutes.
constexpr double kVeryLong_ms = 50;
/// Compilation takes longer than this, but calls of few models do.
constexpr double kSuspicious_ms = 400;
/// The fewest measurements whose extremes enclose the median with a probability of 95 %
/// (1 − 2 · 0.5⁶ = 0.97).
constexpr int kFewestOfLongCalls = 6;

/// The fewest blocks of each subject whose spread predicts that of later blocks. Long calls need
/// fewer: their blocks differ less, and would take seconds.
constexpr std::size_t kFewestBlocks = 4;

/// The fewest wall-clock bounds of each subject, even if they exceed the budget. With two, a
/// bootstrap at 95 % finds a difference between a kernel and itself in 23 of 100 comparisons.
constexpr std::size_t kFewestBounds = 4;

/// The block for times without meaning (TimingLimits::rough): the fewest calls worth a report.
constexpr Block kRough{.discarded = 0, .counted = 2};

/// At least 8 counted and 2 discarded calls, unless calls are long: then a switch between processes
/// takes little time in comparison. If each block gives one wall-clock bound, more blocks say more
/// than more calls in each.
Block block_of(double call_ms, bool is_bound) {
  if (call_ms <= kLong_ms) return {.discarded = 2, .counted = 8};
  if (call_ms <= kLonger_ms) return {.discarded = 1, .counted = 5};
  if (call_ms <= kVeryLong_ms) return {.discarded = 1, .counted = is_bound ? 2 : 3};
  return {.discarded = 0, .counted = is_bound ? 1 : 3};
}

/// Limits a block to `calls` calls. If calls should be discarded and fewer than four calls fit, the
/// block is one counted call, because that is alike for both subjects. On an H200, modules equal to
/// their references then took within 2 % of the references' times. With one discarded call, or with
/// two counted calls, they took 3 % longer.
Block shortened(Block block, int calls) {
  if (block.discarded + block.counted <= calls) return block;
  if (block.discarded > 0 && calls < 4) return {.discarded = 0, .counted = 1};
  block.discarded = std::min(block.discarded, calls / 2);
  block.counted = std::min(block.counted, calls - block.discarded);
  return block;
}

/// The way to measure one subject.
struct Course {
  Block block;
  int least = 0;  ///< the fewest measurements
};

double call_length_ms(const TimedSide& side) {
  if (side.about_ms > kVeryLong_ms) return side.about_ms;
  // The first call after a switch would be discarded anyway.
  const double call_ms = side.measure({.discarded = 1}).at(0);
  // A very long call may include compilation, so a second call decides.
  return call_ms > kSuspicious_ms ? std::min(call_ms, side.measure({.discarded = 1}).at(0))
                                  : call_ms;
}

struct Interval {
  double value, lo, hi;
};

std::size_t blocks_of(const Series& series) {
  return std::max<std::size_t>(series.ms.size() / series.block, 1);
}

/// Draws as many blocks as there are, and as many measurements from each as it has, with repeats.
template <typename Random>
std::vector<double> resampled(const Series& series, Random& random) {
  const std::size_t blocks = blocks_of(series);
  const std::size_t size = std::min(series.block, series.ms.size());
  std::uniform_int_distribution<std::size_t> pick_block(0, blocks - 1), pick(0, size - 1);
  std::vector<double> sample;
  sample.reserve(blocks * size);
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t start = pick_block(random) * size;
    for (std::size_t j = 0; j < size; ++j) sample.push_back(series.ms[start + pick(random)]);
  }
  return sample;
}

/// The factor by which an interval from this number of blocks is too narrow. Few resampled blocks
/// spread less than new blocks. They also say little about the spread of new blocks; Student's t of
/// two equal subjects corrects that. Without t, 11 of 196 comparisons of H200 kernels with
/// themselves found a difference; with t, 3 did.
double widening(std::size_t blocks) {
  if (blocks < 2) return 1;
  constexpr double kNormal = 1.960;
  constexpr double kStudent[] = {4.303, 2.776, 2.447, 2.306, 2.228, 2.179, 2.145, 2.120,
                                 2.101, 2.086, 2.074, 2.064, 2.056, 2.048, 2.042};
  const std::size_t row = blocks - 2;  // 2 · blocks − 2 degrees of freedom; the first row is for 2
  const double student = row < std::size(kStudent) ? kStudent[row] : kNormal;
  const auto count = static_cast<double>(blocks);
  return std::sqrt(count / (count - 1)) * student / kNormal;
}

/// The 95 % interval of `value`. `draw`: computes the value from data that it resamples. `blocks`:
/// number of blocks in the data.
Interval bootstrap(double value, std::size_t blocks,
                   const std::function<double(std::mt19937_64&)>& draw) {
  std::mt19937_64 random(20240229);  // fixed: equal measurements give an equal interval
  std::vector<double> values(kResamples);
  for (auto& drawn : values) drawn = draw(random);
  std::sort(values.begin(), values.end());
  const double wider = widening(blocks);
  const auto end = [&](double drawn) { return value * std::pow(drawn / value, wider); };
  return {value, end(values[kResamples / 40]), end(values[kResamples - 1 - kResamples / 40])};
}

Interval bootstrap_ratio(const Series& numerator, const Series& denominator,
                         double (*middle)(std::vector<double>) = median) {
  return bootstrap(middle(numerator.ms) / middle(denominator.ms),
                   std::min(blocks_of(numerator), blocks_of(denominator)), [&](auto& random) {
                     const double above = middle(resampled(numerator, random));
                     return above / middle(resampled(denominator, random));
                   });
}

bool precise_enough(const TimedRun& run, const std::vector<TimedSide>& sides, double target) {
  const auto series = [&](const TimedSide& side) {
    return Series{run.measurements.at(side.name), run.block_sizes.at(side.name)};
  };
  if (sides.size() == 1) {
    const SideTiming alone = summarize(series(sides.front()));
    return alone.lo_ms && (*alone.hi_ms - *alone.lo_ms) / 2 <= target * alone.median_ms;
  }
  return std::all_of(sides.begin(), sides.end() - 1, [&](const TimedSide& side) {
    const Interval ratio = bootstrap_ratio(series(side), series(sides.back()));
    return (ratio.hi - ratio.lo) / 2 <= target * ratio.value;
  });
}

}  // namespace

TimedRun measure_sides(const std::vector<TimedSide>& sides, const TimingLimits& limits,
                       const std::function<DeviceState()>& state) {
  TimedRun run;
  std::map<std::string, Course> courses;
  const bool is_bound = limits.min_blocks > 0;
  bool all_short = true;
  const auto measure_block = [&](const TimedSide& side) {
    if (!courses.contains(side.name)) {
      const double call_ms = limits.rough ? 0 : call_length_ms(side);
      all_short = all_short && call_ms <= kLong_ms;
      Block block = limits.rough ? kRough : block_of(call_ms, is_bound);
      block.counted = std::min(block.counted, side.max_counted);
      if (!limits.discard) block.discarded = 0;
      block = shortened(block, side.max_calls);
      const int least = call_ms <= kLonger_ms
                            ? limits.min_measurements
                            : std::min(kFewestOfLongCalls, limits.min_measurements);
      courses[side.name] = {block, least};
      run.block_sizes[side.name] = static_cast<std::size_t>(block.counted);
    }
    const Block block = courses[side.name].block;
    const auto times = side.measure(block);
    auto& kept = run.measurements[side.name];
    kept.insert(kept.end(), times.begin() + block.discarded, times.end());
    run.states[side.name].push_back(state());
  };
  const auto start = std::chrono::steady_clock::now();
  const auto since = [](std::chrono::steady_clock::time_point then) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
  };
  while (true) {
    const auto round_start = std::chrono::steady_clock::now();
    for (const auto& side : sides) measure_block(side);
    for (auto side = sides.rbegin(); side != sides.rend(); ++side) measure_block(*side);
    if (limits.rough) return run;
    const auto smallest = std::min_element(
        run.measurements.begin(), run.measurements.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const auto count = static_cast<int>(smallest->second.size());
    const std::size_t fewest = std::max(all_short ? kFewestBlocks : 0,
                                        std::min(is_bound ? kFewestBounds : 0, limits.min_blocks));
    const bool is_enough = std::ranges::all_of(run.measurements, [&](const auto& side) {
      const auto& [name, times] = side;
      return times.size() >= static_cast<std::size_t>(courses.at(name).least) &&
             times.size() >= fewest * run.block_sizes.at(name);
    });
    if (!is_enough) continue;
    // Stops before a round of which more than half would exceed the budget.
    const bool is_spent = since(start) + since(round_start) / 2 > limits.budget_s;
    if (is_spent || count >= limits.max_measurements) return run;
    const bool has_blocks = std::ranges::all_of(
        run.states, [&](const auto& side) { return side.second.size() >= limits.min_blocks; });
    if (has_blocks && precise_enough(run, sides, limits.target_rel_ci)) return run;
  }
}

SetAside set_throttled_aside(TimedRun& run, std::ptrdiff_t fewest) {
  SetAside gone;
  for (const auto& [side, states] : run.states) {
    if (std::ranges::count(states, false, &DeviceState::throttled) < fewest) return {};
    for (const DeviceState& state : states) gone[side].push_back(state.throttled());
  }
  for (auto& [side, states] : run.states) {
    std::vector<double>& measurements = run.measurements.at(side);
    const std::size_t size = run.block_sizes.at(side);
    std::vector<double> kept_measurements;
    std::vector<DeviceState> kept_states;
    for (std::size_t block = 0; block < states.size(); ++block) {
      if (states[block].throttled()) continue;
      const auto start = measurements.begin() + static_cast<std::ptrdiff_t>(block * size);
      kept_measurements.insert(kept_measurements.end(), start,
                               start + static_cast<std::ptrdiff_t>(size));
      kept_states.push_back(states[block]);
    }
    measurements = std::move(kept_measurements);
    states = std::move(kept_states);
  }
  return gone;
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

double midmean(std::vector<double> values) {
  std::ranges::sort(values);
  const auto aside = static_cast<std::ptrdiff_t>(values.size() / 4);
  return mean({values.begin() + aside, values.end() - aside});
}

SideTiming summarize(const Series& series) {
  const std::vector<double>& measurements_ms = series.ms;
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
  if (blocks_of(series) < 2 || timing.count < kFewestOfLongCalls) return timing;
  const Interval interval = bootstrap(timing.median_ms, blocks_of(series), [&](auto& random) {
    return median(resampled(series, random));
  });
  timing.lo_ms = interval.lo;
  timing.hi_ms = interval.hi;
  return timing;
}

Speedup speedup_of(const std::string& baseline, const Series& baseline_ms,
                   const Series& candidate_ms) {
  const Interval ratio = bootstrap_ratio(baseline_ms, candidate_ms);
  return {baseline, ratio.value, ratio.lo, ratio.hi};
}

Speedup speedup_of_means(const std::string& baseline, const std::vector<double>& baseline_ms,
                         const std::vector<double>& candidate_ms) {
  const Interval ratio = bootstrap_ratio({baseline_ms}, {candidate_ms}, mean);
  return {baseline, ratio.value, ratio.lo, ratio.hi};
}

}  // namespace kbench::worker
