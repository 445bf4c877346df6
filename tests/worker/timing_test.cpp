// SPDX-License-Identifier: MIT
#include "worker/timing/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "worker/fake_side.hpp"

namespace kbench::worker {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(MeasureSides, FindsTheRatioOfNoisySides) {
  struct Case {
    double eager_ms, candidate_ms, noise, outliers;
  };
  const Case cases[] = {{1, 1, 0.02, 0},     {2, 1, 0.02, 0},       {1, 3, 0.05, 0},
                        {1, 1, 0.05, 0.1},   {0.02, 0.001, 0.1, 0}, {15, 14, 0.03, 0.05},
                        {0.5, 0.49, 0.02, 0}};
  for (const auto& c : cases) {
    FakeSide eager{.true_ms = c.eager_ms, .noise = c.noise, .outliers = c.outliers};
    FakeSide candidate{.true_ms = c.candidate_ms, .noise = c.noise, .outliers = c.outliers};
    candidate.random.seed(2);
    const auto found = speedup(measure({side("eager", eager), side("candidate", candidate)}));
    const double expected_output = c.eager_ms / c.candidate_ms;
    EXPECT_NEAR(found.value / expected_output, 1, 0.03) << expected_output;
    EXPECT_LE(found.lo, found.value);
    EXPECT_GE(found.hi, found.value);
    // A 95 % interval may miss the true value, but not by more than its own width.
    const double width = found.hi - found.lo;
    EXPECT_GE(expected_output, found.lo - width);
    EXPECT_LE(expected_output, found.hi + width);
    EXPECT_LE(width, 0.2 * expected_output);
  }
}

TEST(MeasureSides, TheIntervalCoversTheTruthAboutAsOftenAsItSays) {
  int covered = 0;
  constexpr int kRuns = 60;
  for (int i = 0; i < kRuns; ++i) {
    FakeSide eager{.true_ms = 1.5, .noise = 0.05}, candidate{.true_ms = 1, .noise = 0.05};
    eager.random.seed(static_cast<unsigned>(100 + i));
    candidate.random.seed(static_cast<unsigned>(900 + i));
    TimingLimits limits;
    limits.min_measurements = limits.max_measurements = 60;
    const auto found =
        speedup(measure({side("eager", eager), side("candidate", candidate)}, limits));
    covered += found.lo <= 1.5 && 1.5 <= found.hi ? 1 : 0;
  }
  EXPECT_GE(covered, kRuns * 85 / 100);
}

TEST(MeasureSides, DiscardsWhatIsSlowAfterEachSwitch) {
  FakeSide eager{.true_ms = 1, .switch_penalty = 2, .slow_calls = 2};
  FakeSide candidate{.true_ms = 0.5, .switch_penalty = 7, .slow_calls = 2};
  const auto run = measure({side("eager", eager), side("candidate", candidate)});
  EXPECT_THAT(run.measurements.at("eager"), Each(1.0));
  EXPECT_THAT(run.measurements.at("candidate"), Each(0.5));
}

TEST(MeasureSides, GoesOnToSoManyBlocksWhereEachIsOneBound) {
  FakeSide eager{.true_ms = 6}, candidate{.true_ms = 5};
  const auto few = measure({side("eager", eager), side("candidate", candidate)});
  EXPECT_LT(few.states.at("candidate").size(), 10u);
  TimingLimits limits;
  limits.min_blocks = 10;
  limits.budget_s = 60;
  const auto many = measure({side("eager", eager), side("candidate", candidate)}, limits);
  for (const char* name : {"eager", "candidate"}) EXPECT_GE(many.states.at(name).size(), 10u);
  // Without a budget, timing ends early.
  limits.budget_s = 0;
  EXPECT_LT(measure({side("eager", eager), side("candidate", candidate)}, limits)
                .states.at("candidate")
                .size(),
            10u);
}

TEST(MeasureSides, NoBudgetIsTooSmallForFourBounds) {
  struct Case {
    double ms;
    std::vector<int> calls;
  };
  for (const auto& [ms, calls] : {Case{1, {1, 10, 10, 10, 10}}, Case{8, {1, 6, 6, 6, 6}},
                                  Case{30, {1, 3, 3, 3, 3}}, Case{200, {1, 1, 1, 1, 1, 1, 1}}}) {
    FakeSide eager{.true_ms = 1}, candidate{.true_ms = ms};
    TimingLimits limits;
    limits.min_blocks = 10;
    limits.budget_s = 0;
    const auto run = measure({side("eager", eager), side("candidate", candidate)}, limits);
    EXPECT_EQ(candidate.blocks, calls) << ms;
    EXPECT_EQ(run.states.at("eager").size(), calls.size() - 1) << ms;
  }
}

TEST(MeasureSides, AlternatesABBA) {
  std::vector<std::string> order;
  FakeSide a{.order = &order}, b{.order = &order}, c{.order = &order};
  TimingLimits limits;
  limits.min_measurements = 20;
  measure({side("a", a), side("b", b), side("c", c)}, limits);
  // The first call of each subject measures its length.
  EXPECT_THAT(order, ElementsAre("a", "a", "b", "b", "c", "c", "c", "b", "a",  //
                                 "a", "b", "c", "c", "b", "a"));
  EXPECT_EQ(a.blocks.front(), 1);
}

TEST(MeasureSides, BlocksAreOfEightThatCountUnlessCallsAreLong) {
  struct Case {
    double ms;
    int calls, counted;
  };
  for (const auto& c : {Case{0.01, 10, 8}, Case{4, 10, 8}, Case{4.1, 6, 5}, Case{12, 6, 5},
                        Case{12.1, 4, 3}, Case{50, 4, 3}, Case{51, 3, 3}, Case{399, 3, 3}}) {
    FakeSide eager{.true_ms = 1}, candidate{.true_ms = c.ms};
    TimingLimits limits;
    limits.min_measurements = 1;
    const auto run = measure({side("eager", eager), side("candidate", candidate)}, limits);
    // At least four blocks of each subject, unless calls are long.
    const std::size_t least = c.ms <= 4 ? 4 : 2;
    std::vector<int> candidate_blocks(1 + least, c.calls), eager_blocks(1 + least, 10);
    candidate_blocks[0] = eager_blocks[0] = 1;
    EXPECT_EQ(candidate.blocks, candidate_blocks) << c.ms;
    EXPECT_EQ(run.measurements.at("candidate").size(), least * static_cast<unsigned>(c.counted));
    // Short blocks of a slow subject do not change the other's blocks.
    EXPECT_EQ(eager.blocks, eager_blocks) << c.ms;
  }
}

TEST(MeasureSides, NoMoreCallsOfABlockCountThanThereAreInputsFor) {
  FakeSide eager{.true_ms = 1}, candidate{.true_ms = 1};
  TimingLimits limits;
  TimedSide bounded = side("candidate", candidate);
  bounded.max_counted = 2;
  const auto run = measure({side("eager", eager), bounded}, limits);
  // Still at least ten measurements of each subject.
  EXPECT_THAT(candidate.blocks, ElementsAre(1, 4, 4, 4, 4, 4, 4));
  EXPECT_EQ(run.measurements.at("candidate").size(), 12u);
  EXPECT_THAT(eager.blocks, ElementsAre(1, 10, 10, 10, 10, 10, 10));
  FakeSide few;
  TimedSide alone = side("candidate", few);
  alone.max_counted = 1;
  limits.discard = false;
  measure({alone}, limits);
  few.blocks.erase(few.blocks.begin());
  EXPECT_THAT(few.blocks, Each(1));
}

TEST(MeasureSides, NorAreMoreAskedForWhereNoneMayHaveBeenSeen) {
  struct Case {
    double ms;
    int most, discarded, counted;
  };
  for (const auto& c :
       {Case{1, 8, 2, 6}, Case{1, 5, 2, 3}, Case{1, 4, 2, 2}, Case{1, 3, 0, 1}, Case{1, 2, 0, 1},
        Case{1, 1, 0, 1}, Case{6, 8, 1, 5}, Case{6, 4, 1, 3}, Case{60, 4, 0, 3}}) {
    FakeSide eager{.true_ms = 1}, candidate{.true_ms = c.ms};
    TimedSide bounded = side("candidate", candidate);
    bounded.max_calls = c.most;
    const auto run = measure({side("eager", eager), bounded}, {});
    candidate.blocks.erase(candidate.blocks.begin());
    EXPECT_THAT(candidate.blocks, Each(c.discarded + c.counted)) << c.ms << " " << c.most;
    EXPECT_EQ(run.measurements.at("candidate").size(),
              candidate.blocks.size() * static_cast<std::size_t>(c.counted));
  }
}

TEST(MeasureSides, SixVeryLongCallsSufficeWhereTheyAgree) {
  FakeSide eager{.true_ms = 1}, candidate{.true_ms = 200};
  const auto run = measure({side("eager", eager), side("candidate", candidate)}, {});
  EXPECT_EQ(run.measurements.at("candidate").size(), 6u);
  EXPECT_EQ(run.measurements.at("eager").size(), 16u);
}

TEST(MeasureSides, StopsAsSoonAsTheRatioIsKnown) {
  TimingLimits limits;
  limits.budget_s = 1000;
  FakeSide steady{.true_ms = 1, .noise = 0.002}, other{.true_ms = 2, .noise = 0.002};
  const auto early = measure({side("eager", steady), side("candidate", other)}, limits);
  EXPECT_EQ(early.measurements.at("eager").size(), 32u);  // four blocks
  FakeSide noisy{.true_ms = 1, .noise = 0.1}, also{.true_ms = 2, .noise = 0.1};
  const auto late = measure({side("eager", noisy), side("candidate", also)}, limits);
  EXPECT_GT(late.measurements.at("eager").size(), 100u);
}

TEST(MeasureSides, NeverMeasuresMuchMoreThanTheMost) {
  TimingLimits limits;
  limits.budget_s = 1000;
  limits.max_measurements = 100;
  FakeSide noisy{.true_ms = 1, .noise = 0.5}, also{.true_ms = 2, .noise = 0.5};
  const auto run = measure({side("eager", noisy), side("candidate", also)}, limits);
  for (const auto& [name, times] : run.measurements)
    EXPECT_THAT(times.size(), AllOf(Ge(100u), Le(116u))) << name;
}

TEST(MeasureSides, WhatIsKnownToBeVeryLongNeedsNoProbe) {
  FakeSide eager{.true_ms = 600}, candidate{.true_ms = 600};
  TimedSide known = side("candidate", candidate);
  known.about_ms = 610;
  measure({side("eager", eager), known});
  EXPECT_THAT(candidate.blocks, ElementsAre(3, 3));
  EXPECT_THAT(eager.blocks, ElementsAre(1, 1, 3, 3));

  // A known time includes messages, so short calls are measured all the same.
  FakeSide quick{.true_ms = 1};
  known = side("candidate", quick);
  known.about_ms = 40;
  measure({side("eager", eager), known});
  EXPECT_EQ(quick.blocks.front(), 1);
  EXPECT_EQ(quick.blocks[1], 10);
}

TEST(MeasureSides, RoughTimesAreOfFourCalls) {
  FakeSide eager{.true_ms = 1, .noise = 0.5}, candidate{.true_ms = 500};
  TimingLimits limits;
  limits.rough = true;
  const auto run = measure({side("eager", eager), side("candidate", candidate)}, limits);
  EXPECT_THAT(eager.blocks, ElementsAre(2, 2));
  EXPECT_THAT(candidate.blocks, ElementsAre(2, 2));
  EXPECT_EQ(run.measurements.at("candidate").size(), 4u);
}

TEST(MeasureSides, AnEmptyBudgetStillGetsTheLeastNumber) {
  TimingLimits limits;
  limits.budget_s = 0;
  limits.min_measurements = 40;
  FakeSide noisy{.true_ms = 1, .noise = 0.5}, also{.true_ms = 2, .noise = 0.5};
  const auto run = measure({side("eager", noisy), side("candidate", also)}, limits);
  for (const auto& [name, times] : run.measurements)
    EXPECT_THAT(times.size(), AllOf(Ge(40u), Le(56u))) << name;
}

TEST(MeasureSides, TheBudgetEndsRealWaiting) {
  TimingLimits limits;
  limits.budget_s = 0.2;
  limits.max_measurements = 1'000'000;
  limits.target_rel_ci = 0;
  const TimedSide slow{"candidate", [](Block block) {
                         const int calls = block.discarded + block.counted;
                         std::this_thread::sleep_for(std::chrono::milliseconds(calls));
                         return std::vector<double>(static_cast<std::size_t>(calls), 1.0);
                       }};
  FakeSide eager{.true_ms = 1, .noise = 0.1};
  const auto start = std::chrono::steady_clock::now();
  measure({side("eager", eager), slow}, limits);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(MeasureSides, ACandidateAloneIsMeasuredToo) {
  FakeSide alone{.true_ms = 3};
  const auto run = measure({side("candidate", alone)});
  EXPECT_GE(run.measurements.at("candidate").size(), 10u);
  EXPECT_THAT(run.measurements.at("candidate"), Each(3.0));
}

TEST(MeasureSides, ReadsTheClockOncePerBlock) {
  FakeSide eager, candidate;
  int reads = 0;
  TimingLimits limits;
  limits.min_measurements = 1;
  const auto run = measure_sides({side("eager", eager), side("candidate", candidate)}, limits,
                                 [&] { return DeviceState{.clock_mhz = 1000.0 + ++reads}; });
  const auto clocks = [&](const char* name) {
    std::vector<double> all;
    for (const DeviceState& state : run.states.at(name)) all.push_back(state.clock_mhz);
    return all;
  };
  EXPECT_THAT(clocks("eager"), ElementsAre(1001, 1004, 1005, 1008));
  EXPECT_THAT(clocks("candidate"), ElementsAre(1002, 1003, 1006, 1007));
}

TEST(Midmean, IsFinerThanWhatTheClockTells) {
  // Multiples of 32, for a time of 40.
  EXPECT_DOUBLE_EQ(midmean({32, 32, 32, 64, 32, 32, 64, 32}), 32);
  EXPECT_DOUBLE_EQ(midmean({64, 32, 32, 64, 32, 64, 32, 32}), 40);
  // Outliers do not count.
  EXPECT_DOUBLE_EQ(midmean({1e9, 3, 4, 5, 6, 2, 0, 1}), 3.5);
  EXPECT_DOUBLE_EQ(midmean({7}), 7);
}

TimedRun throttled_run(int blocks, const std::vector<int>& throttled) {
  TimedRun run;
  for (const char* name : {"eager", "candidate"}) {
    run.block_sizes[name] = 2;
    for (int i = 0; i < blocks; ++i) {
      const bool slow = std::ranges::find(throttled, i) != throttled.end();
      for (int call = 0; call < 2; ++call) run.measurements[name].push_back(slow ? 3 : 1);
      run.states[name].push_back(
          {.clock_mhz = slow ? 900.0 : 1900.0, .throttle_reasons = slow ? 0x4ull : 0x1ull});
    }
  }
  return run;
}

TEST(ThrottledBlocks, AreSetAside) {
  TimedRun run = throttled_run(5, {1, 4});
  const std::vector<bool> aside{false, true, false, false, true};
  EXPECT_THAT(set_throttled_aside(run),
              UnorderedElementsAre(Pair("eager", aside), Pair("candidate", aside)));
  for (const char* name : {"eager", "candidate"}) {
    EXPECT_THAT(run.measurements.at(name), AllOf(testing::SizeIs(6), Each(1.0)));
    EXPECT_THAT(run.states.at(name), testing::SizeIs(3));
  }
}

TEST(ThrottledBlocks, AreNeverAllSetAside) {
  TimedRun run = throttled_run(3, {0, 1, 2});
  EXPECT_THAT(set_throttled_aside(run), IsEmpty());
  EXPECT_THAT(run.measurements.at("eager"), testing::SizeIs(6));
  TimedRun one_side = throttled_run(3, {});
  for (DeviceState& state : one_side.states["candidate"]) state.throttle_reasons = 0x40;
  EXPECT_THAT(set_throttled_aside(one_side), IsEmpty());
}

TEST(ThrottledBlocks, ClocksThatAreAskedForAreNoThrottling) {
  for (const std::uint64_t reasons : {0x0ull, 0x1ull, 0x2ull, 0x10ull, 0x100ull})
    EXPECT_FALSE(DeviceState{.throttle_reasons = reasons}.throttled()) << reasons;
  for (const std::uint64_t reasons : {0x4ull, 0x8ull, 0x20ull, 0x40ull, 0x80ull, 0x5ull})
    EXPECT_TRUE(DeviceState{.throttle_reasons = reasons}.throttled()) << reasons;
}

}  // namespace
}  // namespace kbench::worker
