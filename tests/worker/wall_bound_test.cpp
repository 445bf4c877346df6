// SPDX-License-Identifier: MIT
#include "worker/timing/wall_bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/timing/timing.hpp"

namespace kbench::worker {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::Lt;

constexpr double kOverhead_ms = 2, kMessage_ms = 0.4;

/// A process that is timed by a simulated clock, which only the times below advance.
struct FakeProcess {
  double call_ms = 5;         ///< true time of a call
  double told_ms = 5;         ///< reported time of a call
  double slow_first_ms = 0;   ///< additional time of each discarded call
  double own_ms = 0;          ///< additional time of each call that the calibrated overhead lacks
  bool works_ahead = false;   ///< computes the counted calls before the discarded ones
  bool skips_upkeep = false;  ///< neither flushes the cache nor copies outputs
  double now_ms = 100;

  void calls(int count, double each_ms) {
    now_ms += count * (each_ms + own_ms + (skips_upkeep ? 0 : kOverhead_ms));
  }
  /// Times a block as the judge does.
  std::vector<double> measure(Block block, WalledSide& seen) {
    const double start = now_ms;
    now_ms += kMessage_ms;
    if (works_ahead) now_ms += block.counted * call_ms;
    calls(block.discarded, call_ms + slow_first_ms);
    // without discarded calls, the start of the block
    const double middle = block.discarded > 0 ? now_ms : start;
    calls(block.counted, works_ahead ? 0 : call_ms);
    if (block.counted > 0)
      seen.blocks.push_back({block.discarded, block.counted, middle - start, now_ms - middle});
    return std::vector<double>(static_cast<std::size_t>(block.discarded + block.counted), told_ms);
  }
};

struct Judged {
  WalledSide side{{}, kOverhead_ms, kMessage_ms};
  std::vector<double> told_ms;
  double bound() const { return median(bounds_ms(side)); }
  bool confirmed() const { return confirms(bounds_ms(side), told_ms, side.blocks.front().counted); }
};

Judged judge(FakeProcess process) {
  Judged judged;
  const TimedSide eager{"eager", [](Block block) {
                          return std::vector<double>(
                              static_cast<std::size_t>(block.discarded + block.counted), 1.0);
                        }};
  const TimedSide candidate{"candidate",
                            [&](Block block) { return process.measure(block, judged.side); }};
  judged.told_ms = measure_sides({eager, candidate}, {}, [] {
                     return DeviceState{};
                   }).measurements.at("candidate");
  return judged;
}

TEST(WallBound, AnHonestClaimIsConfirmedAndItsBoundTight) {
  for (const double ms : {0.9, 5.0, 40.0, 200.0}) {
    const Judged judged = judge({.call_ms = ms, .told_ms = ms});
    EXPECT_TRUE(judged.confirmed()) << ms;
    EXPECT_NEAR(judged.bound(), ms, 0.01 * ms + kMessage_ms) << ms;
  }
}

TEST(WallBound, SlowFirstCallsAreForgiven) {
  for (const double ms : {0.9, 5.0, 40.0}) {
    const Judged judged = judge({.call_ms = ms, .told_ms = ms, .slow_first_ms = 0.5});
    EXPECT_TRUE(judged.confirmed()) << ms;
    EXPECT_NEAR(judged.bound(), ms, 0.01 * ms) << ms;
  }
  // Discarded calls may take longer by the same time as for a short call, and by no more.
  const Judged judged = judge({.call_ms = 40, .told_ms = 40, .slow_first_ms = 12});
  EXPECT_GT(judged.bound(), 42);
}

TEST(WallBound, WhatATimerLeavesOutIsNotBelieved) {
  for (const double told : {5e-3, 0.5, 3.9}) {
    const Judged judged = judge({.call_ms = 5, .told_ms = told});
    EXPECT_FALSE(judged.confirmed()) << told;
    EXPECT_NEAR(judged.bound(), 5, 0.1) << told;
  }
}

TEST(WallBound, OfALongCallLessMayBeLeftOut) {
  // A fifth of half a millisecond may be host work between calls, but not a fifth of twenty.
  EXPECT_TRUE(confirms({0.5}, {0.41}, 8));
  EXPECT_FALSE(confirms({0.5}, {0.39}, 8));
  EXPECT_FALSE(confirms({20.0}, {16.5}, 8));
  EXPECT_TRUE(confirms({20.0}, {17.9}, 8));
  EXPECT_TRUE(confirms({20.0}, {19.0}, 8));
}

TEST(WallBound, WhatABlockCostsWeighsMoreWhereItHasOneCall) {
  EXPECT_FALSE(confirms({3.7}, {3.0}, 8));
  EXPECT_TRUE(confirms({3.7}, {3.0}, 1));
  EXPECT_FALSE(confirms({3.7}, {2.9}, 1)) << "four fifths are needed in any case";
  EXPECT_FALSE(confirms({20.0}, {17.0}, 1));
}

TEST(WallBound, WorkAheadOfTheCountedCallsIsSeen) {
  for (const double ms : {0.1, 1.0, 5.0, 40.0}) {
    const Judged judged = judge({.call_ms = ms, .told_ms = 0.005, .works_ahead = true});
    EXPECT_FALSE(judged.confirmed()) << ms;
    EXPECT_GT(judged.bound(), std::max(0.82 * ms, 0.98 * ms - 0.1)) << ms;
    // If the call is short compared to the overhead, a quarter of the wall time remains.
    EXPECT_LT(judged.bound(), std::max(1.02 * ms + 0.1, (ms + kOverhead_ms) / 3)) << ms;
  }
}

TEST(WallBound, WhoLeavesTheUpkeepOutGainsAFactorAndNoMore) {
  for (const double ms : {0.001, 0.1, 2.0, 50.0}) {
    const Judged judged = judge({.call_ms = ms, .told_ms = 1e-6, .skips_upkeep = true});
    EXPECT_FALSE(judged.confirmed()) << ms;
    EXPECT_GE(judged.bound(), 0.9999 * ms / 4) << ms;
  }
}

TEST(WallBound, OfALeadNoMoreThanATenthIsForgiven) {
  const auto bound = [](double call_ms, double lead_ms) {
    return bound_ms({0, 8, 0, 8 * (call_ms + kOverhead_ms)}, {{}, kOverhead_ms, 0, lead_ms});
  };
  EXPECT_NEAR(bound(2 + 0.2, 0.2), 2, 1e-9) << "it was there";
  EXPECT_NEAR(bound(2, 0.2), 1.8, 1e-9) << "it was left out";
  EXPECT_NEAR(bound(1, 0.2), 0.9, 1e-9);
  EXPECT_NEAR(bound(1, 0), 1, 1e-9);
  const BlockWall known{0, 8, 0, 8 * (1 + kOverhead_ms), 0.98};
  EXPECT_NEAR(bound_ms(known, {{}, kOverhead_ms, 0, 0.1}), 0.98, 1e-9) << "the judge's own";
}

TEST(WallBound, HostWorkBetweenCallsLeavesAShortClaimUnconfirmedNotFaster) {
  const Judged judged = judge({.call_ms = 0.01, .told_ms = 0.01, .own_ms = 1});
  EXPECT_FALSE(judged.confirmed());
  EXPECT_GT(judged.bound(), 0.9);
  EXPECT_LT(judged.bound(), 1.2);
}

TEST(WallBound, OneBlockThatDoesNothingBuysNothing) {
  WalledSide side{{}, 0, 0};
  for (const double wall : {40.0, 0.001, 40.0}) side.blocks.push_back({0, 8, 0, wall});
  EXPECT_DOUBLE_EQ(median(bounds_ms(side)), 5);
  EXPECT_FALSE(confirms(bounds_ms(side), {0.01, 0.01, 0.01}, 8));
  // One disturbed block changes little, too.
  side.blocks[1].counted_ms = 4000;
  EXPECT_DOUBLE_EQ(median(bounds_ms(side)), 5);
  EXPECT_TRUE(confirms(bounds_ms(side), {4.5, 5, 5}, 8));
}

TEST(WallBound, ClaimsAreConfirmedFromFourFifthsOn) {
  EXPECT_TRUE(confirms({1, 1}, {0.8, 0.8, 0.8}, 8));
  EXPECT_FALSE(confirms({1, 1}, {0.79, 0.79, 3}, 8));
  EXPECT_TRUE(confirms({1, 1}, {1, 1, 0.7}, 8));
  EXPECT_FALSE(confirms({1, 1}, {1, 1, 1e-3}, 8)) << "their mean is told, too";
}

TEST(WallBound, BlocksThatAreSetAsideAreInNoBound) {
  WalledSide side{{}, 0, 0};
  for (const double wall : {8.0, 80.0, 16.0}) side.blocks.push_back({0, 8, 0, wall});
  set_aside(side, {false, true, false});
  EXPECT_THAT(bounds_ms(side), ElementsAre(1, 2));
}

TEST(WallBound, WhatTheJudgeMeasuredOfItsOwnSideIsTheLeast) {
  // By noise, the overhead is larger than the wall time.
  const WalledSide baseline{{{0, 8, 0, 16, 0.7}}, 5, 0};
  EXPECT_THAT(bounds_ms(baseline), ElementsAre(0.7));
  const WalledSide candidate{{{0, 8, 0, 16}}, 5, 0};
  EXPECT_THAT(bounds_ms(candidate), ElementsAre(0.5));
}

TEST(WallBound, BothSidesByTheSameMethodHaveACompressedRatio) {
  WalledSide eager{{}, kOverhead_ms, 0}, candidate{{}, kOverhead_ms, 0};
  constexpr double kHost_ms = 0.05;
  for (int i = 0; i < 4; ++i) {
    eager.blocks.push_back({0, 8, 0, 8 * (0.2 + kHost_ms + kOverhead_ms), 0.2});
    candidate.blocks.push_back({0, 8, 0, 8 * (0.1 + kHost_ms + kOverhead_ms)});
  }
  candidate.overhead_ms = eager.overhead_ms = 0.1;  // too small for both
  const auto eager_ms = bounds_ms(eager), candidate_ms = bounds_ms(candidate);
  const auto found = speedup_of("eager", {eager_ms}, {candidate_ms});
  EXPECT_GT(found.value, 1);
  EXPECT_LT(found.value, 2);
}

TEST(EchoMs, IsOfThisMachine) {
  EXPECT_GT(echo_ms(), 0);
  EXPECT_LT(echo_ms(), 1000);
}

}  // namespace
}  // namespace kbench::worker
