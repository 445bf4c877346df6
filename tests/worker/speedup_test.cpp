// SPDX-License-Identifier: MIT
// Medians, speedups and their intervals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

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
  const auto timing = summarize({2, 4, 4, 4, 5, 5, 7, 9});
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
  EXPECT_EQ(summarize({1, 2, 3, 4, 5}).q1_ms, 2);
  EXPECT_EQ(summarize({1, 2, 3, 4, 5}).q3_ms, 4);
  EXPECT_EQ(summarize({3}).std_ms, 0);
}

TEST(Summarize, TellsHowSureTheMedianIs) {
  const auto equal = summarize({3, 3, 3, 3, 3, 3});
  EXPECT_EQ(equal.lo_ms, 3);
  EXPECT_EQ(equal.hi_ms, 3);
  const auto spread = summarize({1, 3, 2, 2, 1, 3, 2, 2});
  ASSERT_TRUE(spread.lo_ms && spread.hi_ms);
  EXPECT_LT(*spread.lo_ms, spread.median_ms);
  EXPECT_GT(*spread.hi_ms, spread.median_ms);
  // Four measurements are too few.
  EXPECT_FALSE(summarize({1, 2, 1, 2}).lo_ms);
  EXPECT_FALSE(summarize({1}).hi_ms);
}

TEST(SpeedupOf, IsTheRatioOfMediansWithItsInterval) {
  const auto found = speedup_of("eager", {4, 4, 40, 4}, {2, 2, 2});
  EXPECT_EQ(found.baseline, "eager");
  EXPECT_DOUBLE_EQ(found.value, 2);
  EXPECT_LE(found.lo, 2);
  EXPECT_GE(found.hi, 2);
  const auto certain = speedup_of("eager", {3, 3, 3}, {2, 2});
  EXPECT_DOUBLE_EQ(certain.lo, 1.5);
  EXPECT_DOUBLE_EQ(certain.hi, 1.5);
}

/// True if the interval of the speedup does not contain 1. `ratio`: the true speedup.
bool tells_apart(unsigned seed, double ratio) {
  FakeSide eager{.true_ms = ratio, .noise = 0.004};
  FakeSide candidate{.true_ms = 1, .noise = 0.004};
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

}  // namespace
}  // namespace kbench::worker
