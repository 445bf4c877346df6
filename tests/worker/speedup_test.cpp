// SPDX-License-Identifier: MIT
// Medians, speedups and their intervals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "worker/fake_side.hpp"
#include "worker/timing/timing.hpp"

namespace kbench::worker {
namespace {

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1}), 5);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({1, 1, 1, 100, 1}), 1);
}

TEST(Summarize, TellsMedianMeanSpreadAndExtremes) {
  const auto timing = summarize({{2, 4, 4, 4, 5, 5, 7, 9}});
  EXPECT_EQ(timing.count, 8);
  EXPECT_DOUBLE_EQ(timing.median_ms, 4.5);
  EXPECT_DOUBLE_EQ(timing.mean_ms, 5);
  EXPECT_DOUBLE_EQ(timing.std_ms, std::sqrt(32.0 / 7));
  EXPECT_EQ(timing.min_ms, 2);
  EXPECT_EQ(timing.max_ms, 9);
  EXPECT_LE(timing.min_ms, *timing.q1_ms);
  EXPECT_LE(*timing.q1_ms, timing.median_ms);
  EXPECT_LE(timing.median_ms, *timing.q3_ms);
  EXPECT_LE(*timing.q3_ms, timing.max_ms);
  EXPECT_EQ(summarize({{1, 2, 3, 4, 5}}).q1_ms, 2);
  EXPECT_EQ(summarize({{1, 2, 3, 4, 5}}).q3_ms, 4);
  EXPECT_EQ(summarize({{3}}).std_ms, 0);
}

TEST(Summarize, TellsHowSureTheMedianIs) {
  const auto equal = summarize({{3, 3, 3, 3, 3, 3}, 2});
  EXPECT_EQ(equal.lo_ms, 3);
  EXPECT_EQ(equal.hi_ms, 3);
  // Equal calls within each of four blocks say less than sixteen independent calls.
  const std::vector<double> times = {1, 1, 1, 1, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2};
  const auto alike = summarize({times, 4}), single = summarize({times, 1});
  ASSERT_TRUE(alike.lo_ms && alike.hi_ms && single.lo_ms && single.hi_ms);
  EXPECT_LT(*alike.lo_ms, *single.lo_ms);
  EXPECT_GT(*alike.hi_ms, *single.hi_ms);
  EXPECT_LE(*alike.lo_ms, alike.median_ms);
  EXPECT_GE(*alike.hi_ms, alike.median_ms);
  // One block says nothing about the next one.
  EXPECT_FALSE(summarize({{1, 2, 3, 4, 5, 6}, 6}).lo_ms);
  // Four measurements are too few, in any number of blocks.
  EXPECT_FALSE(summarize({{1, 2, 1, 2}, 2}).lo_ms);
  EXPECT_FALSE(summarize({{1}, 1}).hi_ms);
}

TEST(SpeedupOf, IsTheRatioOfMediansWithItsInterval) {
  const auto found = speedup_of("eager", {{4, 4, 40, 4}}, {{2, 2, 2}});
  EXPECT_EQ(found.baseline, "eager");
  EXPECT_DOUBLE_EQ(found.value, 2);
  EXPECT_LE(found.lo, 2);
  EXPECT_GE(found.hi, 2);
  const auto certain = speedup_of("eager", {{3, 3, 3}}, {{2, 2}});
  EXPECT_DOUBLE_EQ(certain.lo, 1.5);
  EXPECT_DOUBLE_EQ(certain.hi, 1.5);
}

/// True if the interval of the speedup does not contain 1. `ratio`: the true speedup.
bool tells_apart(unsigned seed, double ratio) {
  // The noise of blocks is larger than the noise of single calls within them.
  FakeSide eager{.true_ms = ratio, .noise = 0.004, .block_noise = 0.003};
  FakeSide candidate{.true_ms = 1, .noise = 0.004, .block_noise = 0.003};
  eager.random.seed(seed);
  candidate.random.seed(seed + 5000);
  TimingLimits limits;
  limits.budget_s = 1000;
  const auto found = speedup(measure({side("eager", eager), side("candidate", candidate)}, limits));
  return found.lo > 1 || found.hi < 1;
}

TEST(SpeedupOf, ASideIsNoFasterThanItselfAndTwoPercentAreFound) {
  constexpr unsigned kRuns = 300;
  unsigned false_alarms = 0, found = 0;
  for (unsigned i = 0; i < kRuns; ++i) {
    false_alarms += tells_apart(i, 1) ? 1 : 0;
    found += tells_apart(i, 1.02) ? 1 : 0;
  }
  EXPECT_LE(false_alarms, kRuns * 5 / 100);
  EXPECT_GE(found, kRuns * 90 / 100);
}

/// Measurements on an H200, by subject: 16 blocks of 8 calls each.
std::vector<std::vector<double>> recorded_sides() {
  std::vector<std::vector<double>> sides;
  std::ifstream file(KBENCH_GOLDEN_BLOCKS);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream text(line.substr(line.find('\t')));
    sides.emplace_back(std::istream_iterator<double>(text), std::istream_iterator<double>());
  }
  return sides;
}

TEST(SpeedupOf, WhatAGpuDidIsNoFasterThanItself) {
  constexpr std::size_t kBlock = 8;
  int comparisons = 0, by_blocks = 0, by_calls = 0, of_many = 0, found = 0;
  const auto is_faster = [](const Speedup& speedup) {
    const auto relation = relation_of(speedup);
    return relation == "faster" || relation == "slower" ? 1 : 0;
  };
  // With few and with many blocks.
  for (const std::size_t half : {2, 4, 8})
    for (const auto& times : recorded_sides()) {
      const std::size_t length = 2 * half * kBlock;
      ASSERT_EQ(times.size() % length, 0u);
      for (std::size_t start = 0; start < times.size(); start += length) {
        // A B B A, as if the subject had been compared with itself.
        std::vector<double> a, b, slower;
        for (std::size_t i = 0; i < length; ++i) {
          const std::size_t turn = i / kBlock % 4;
          (turn == 0 || turn == 3 ? a : b).push_back(times[start + i]);
        }
        ++comparisons;
        by_blocks += is_faster(speedup_of("itself", {a, kBlock}, {b, kBlock}));
        by_calls += is_faster(speedup_of("itself", {a, 1}, {b, 1}));
        if (half < 8) continue;
        ++of_many;
        for (const double ms : b) slower.push_back(1.1 * ms);
        found += is_faster(speedup_of("itself", {slower, kBlock}, {a, kBlock}));
      }
    }
  ASSERT_EQ(comparisons, 196);
  EXPECT_LE(by_blocks, comparisons * 5 / 100);
  EXPECT_GE(found, of_many * 80 / 100);
  // The reason for resampling blocks.
  EXPECT_GE(by_calls, 4 * by_blocks);
}

TEST(SpeedupOf, EqualMeasurementsGiveAnEqualInterval) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> spread(1, 0.1);
  std::vector<double> a(50), b(50);
  for (auto& ms : a) ms = spread(random);
  for (auto& ms : b) ms = 2 * spread(random);
  const auto first = speedup_of("eager", {a}, {b}), second = speedup_of("eager", {a}, {b});
  EXPECT_EQ(first.lo, second.lo);
  EXPECT_EQ(first.hi, second.hi);
  EXPECT_LT(first.lo, first.hi);
}

TEST(SpeedupOfMeans, HasNoMediansAndAnInterval) {
  const std::vector<double> eager{4, 4, 40, 4}, candidate{2, 2, 2};
  const auto found = speedup_of_means("eager", eager, candidate);
  EXPECT_EQ(found.baseline, "eager");
  EXPECT_DOUBLE_EQ(found.value, 6.5);  // the ratio of medians would be 2
  EXPECT_DOUBLE_EQ(found.value, summarize({eager}).mean_ms / summarize({candidate}).mean_ms);
  EXPECT_LE(found.lo, found.value);
  EXPECT_GE(found.hi, found.value);
}

}  // namespace
}  // namespace kbench::worker
