// SPDX-License-Identifier: MIT
#include "worker/timing/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "worker/fake_side.hpp"

namespace kbench::worker {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;

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

TEST(MeasureSides, AlternatesABBA) {
  std::vector<std::string> order;
  FakeSide a{.order = &order}, b{.order = &order}, c{.order = &order};
  TimingLimits limits;
  limits.min_measurements = 3;
  measure({side("a", a), side("b", b), side("c", c)}, limits);
  EXPECT_THAT(order, ElementsAre("a", "b", "c", "c", "b", "a",  //
                                 "a", "b", "c", "c", "b", "a"));
}

TEST(MeasureSides, SixLongCallsSufficeIfTheyAgree) {
  FakeSide eager{.true_ms = 1}, candidate{.true_ms = 13};
  const auto run = measure({side("eager", eager), side("candidate", candidate)}, {});
  EXPECT_EQ(run.measurements.at("candidate").size(), 6u);
  EXPECT_EQ(run.measurements.at("eager").size(), 6u);
  FakeSide shorter{.true_ms = 11};
  EXPECT_EQ(measure({side("eager", eager), side("candidate", shorter)}, {})
                .measurements.at("candidate")
                .size(),
            10u);
}

TEST(MeasureSides, StopsAsSoonAsTheRatioIsKnown) {
  TimingLimits limits;
  limits.budget_s = 1000;
  FakeSide steady{.true_ms = 1, .noise = 0.002}, other{.true_ms = 2, .noise = 0.002};
  const auto early = measure({side("eager", steady), side("candidate", other)}, limits);
  EXPECT_EQ(early.measurements.at("eager").size(), 10u);
  FakeSide noisy{.true_ms = 1, .noise = 0.1}, also{.true_ms = 2, .noise = 0.1};
  const auto late = measure({side("eager", noisy), side("candidate", also)}, limits);
  EXPECT_GT(late.measurements.at("eager").size(), 100u);
}

TEST(MeasureSides, NeverMeasuresMuchMoreThanTheMost) {
  TimingLimits limits;
  limits.budget_s = 1000;
  limits.max_measurements = 99;
  FakeSide noisy{.true_ms = 1, .noise = 0.5}, also{.true_ms = 2, .noise = 0.5};
  const auto run = measure({side("eager", noisy), side("candidate", also)}, limits);
  for (const auto& [name, times] : run.measurements) EXPECT_EQ(times.size(), 100u) << name;
}

TEST(MeasureSides, RoughTimesAreOfFourCalls) {
  FakeSide eager{.true_ms = 1, .noise = 0.5}, candidate{.true_ms = 500};
  TimingLimits limits;
  limits.rough = true;
  const auto run = measure({side("eager", eager), side("candidate", candidate)}, limits);
  EXPECT_EQ(eager.count, 4);
  EXPECT_EQ(candidate.count, 4);
  EXPECT_EQ(run.measurements.at("candidate").size(), 4u);
}

TEST(MeasureSides, RepeatsATurnInWhichTheClocksDiffer) {
  FakeSide eager, candidate;
  TimingLimits limits;
  limits.min_measurements = 2;
  limits.target_rel_ci = 1;
  int reads = 0;
  // The second measurement is the only slow one.
  const auto run = measure_sides({side("eager", eager), side("candidate", candidate)}, limits, [&] {
    return DeviceState{.clock_mhz = ++reads == 2 ? 1900.0 : 1980.0};
  });
  EXPECT_EQ(eager.count, 3);
  EXPECT_EQ(run.measurements.at("eager").size(), 2u);
  EXPECT_EQ(run.measurements.at("candidate").size(), 2u);
  for (const DeviceState& state : run.states.at("candidate")) EXPECT_EQ(state.clock_mhz, 1980);
  // Clocks that always differ are no reason to go on for ever.
  FakeSide hot, cold;
  bool is_hot = false;
  measure_sides({side("eager", hot), side("candidate", cold)}, limits, [&] {
    return DeviceState{.clock_mhz = std::exchange(is_hot, !is_hot) ? 1700.0 : 1980.0};
  });
  EXPECT_EQ(hot.count, 12);
}

TEST(MeasureSides, AnEmptyBudgetStillGetsTheLeastNumber) {
  TimingLimits limits;
  limits.budget_s = 0;
  limits.min_measurements = 40;
  FakeSide noisy{.true_ms = 1, .noise = 0.5}, also{.true_ms = 2, .noise = 0.5};
  const auto run = measure({side("eager", noisy), side("candidate", also)}, limits);
  for (const auto& [name, times] : run.measurements) EXPECT_EQ(times.size(), 40u) << name;
}

TEST(MeasureSides, TheBudgetEndsRealWaiting) {
  TimingLimits limits;
  limits.budget_s = 0.2;
  limits.max_measurements = 1'000'000;
  limits.target_rel_ci = 0;
  const TimedSide slow{"candidate", [] {
                         std::this_thread::sleep_for(std::chrono::milliseconds(1));
                         return 1.0;
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

TEST(MeasureSides, ReadsTheDevicesStateAfterEachMeasurement) {
  FakeSide eager, candidate;
  int reads = 0;
  TimingLimits limits;
  limits.min_measurements = 3;
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

TimedRun throttled_run(int count, const std::vector<int>& throttled) {
  TimedRun run;
  for (const char* name : {"eager", "candidate"}) {
    for (int i = 0; i < count; ++i) {
      const bool slow = std::ranges::find(throttled, i) != throttled.end();
      run.measurements[name].push_back(slow ? 3 : 1);
      run.states[name].push_back(
          {.clock_mhz = slow ? 900.0 : 1900.0, .throttle_reasons = slow ? 0x4ull : 0x1ull});
    }
  }
  return run;
}

TEST(ThrottledMeasurements, AreSetAside) {
  TimedRun run = throttled_run(5, {1, 4});
  set_throttled_aside(run);
  for (const char* name : {"eager", "candidate"}) {
    EXPECT_THAT(run.measurements.at(name), AllOf(testing::SizeIs(3), Each(1.0)));
    EXPECT_THAT(run.states.at(name), testing::SizeIs(3));
  }
}

TEST(ThrottledMeasurements, AreNeverAllSetAside) {
  TimedRun run = throttled_run(3, {0, 1, 2});
  set_throttled_aside(run);
  EXPECT_THAT(run.measurements.at("eager"), testing::SizeIs(3));
  TimedRun one_side = throttled_run(3, {});
  for (DeviceState& state : one_side.states["candidate"]) state.throttle_reasons = 0x40;
  set_throttled_aside(one_side);
  EXPECT_THAT(one_side.measurements.at("eager"), testing::SizeIs(3));
}

TEST(ThrottledMeasurements, ClocksThatAreAskedForAreNoThrottling) {
  for (const std::uint64_t reasons : {0x0ull, 0x1ull, 0x2ull, 0x10ull, 0x100ull})
    EXPECT_FALSE(DeviceState{.throttle_reasons = reasons}.throttled()) << reasons;
  for (const std::uint64_t reasons : {0x4ull, 0x8ull, 0x20ull, 0x40ull, 0x80ull, 0x5ull})
    EXPECT_TRUE(DeviceState{.throttle_reasons = reasons}.throttled()) << reasons;
}

}  // namespace
}  // namespace kbench::worker
