// SPDX-License-Identifier: MIT
#include "run/schedule/device_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "record/run_samples.hpp"

namespace kbench::run {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr auto kFp32 = static_cast<std::size_t>(FlopType::kFp32);

/// A gigabyte in a millisecond, and an L2 of a megabyte.
Peaks peaks() {
  Peaks peaks;
  peaks.memory_bytes_s = 1e12;
  peaks.l2_bytes = 1e6;
  peaks.flops_s[kFp32] = 1e12;
  return peaks;
}

Record held(double time_ms, const LeastWork& work, const std::string& judge = kOwnJudge,
            const std::optional<Peaks>& device = peaks(),
            const std::optional<Peaks>& measured = {}) {
  Record record = samples::correct();
  record.judge = judge;
  record.timing->sides["candidate"].median_ms = time_ms;
  hold_against_limits(record, {work, work.written_bytes}, device, measured, true);
  return record;
}

LeastWork moving(std::uint64_t read, std::uint64_t written, std::uint64_t flops = 0) {
  LeastWork work{.read_bytes = read, .written_bytes = written};
  work.flops[kFp32] = flops;
  return work;
}

TEST(DeviceLimits, ARightCandidateHasItsShare) {
  const Record record = held(4, moving(1'000'000'000, 1'000'000'000));
  EXPECT_EQ(record.outcome, Outcome::kCorrect);
  ASSERT_TRUE(record.sol && record.sol->share);
  EXPECT_DOUBLE_EQ(*record.sol->share, 0.5);
  EXPECT_THAT(record.flags, Not(Contains("implausible")));
}

TEST(DeviceLimits, AShareOfWhatWasMeasuredStandsBeside) {
  Peaks measured;
  measured.memory_bytes_s = 0.8e12;
  const LeastWork work = moving(1'000'000'000, 1'000'000'000);
  const Record record = held(4, work, kOwnJudge, peaks(), measured);
  ASSERT_TRUE(record.sol && record.sol->share && record.sol->share_measured);
  EXPECT_DOUBLE_EQ(*record.sol->share, 0.5);
  EXPECT_DOUBLE_EQ(*record.sol->share_measured, 0.625);
  EXPECT_FALSE(held(4, work).sol->share_measured.has_value());
  // What nobody measured is as the device's attributes say.
  const Record computing = held(4, moving(0, 0, 1'000'000'000), kOwnJudge, peaks(), measured);
  EXPECT_EQ(computing.sol->share_measured, computing.sol->share);
}

TEST(DeviceLimits, FasterThanItsOutputsCanBeWrittenIsACheat) {
  const Record record = held(0.9, moving(0, 1'000'000'000));
  EXPECT_EQ(record.outcome, Outcome::kCheat);
  EXPECT_EQ(record.stage, Stage::kTiming);
  EXPECT_EQ(record.cause, "faster_than_memory");
  EXPECT_THAT(record.message, HasSubstr("0.9 ms"));
  EXPECT_THAT(record.message, HasSubstr("0.999 ms"));
  EXPECT_FALSE(record.timing);
  EXPECT_TRUE(record.speedup.empty());
  // What the L2 holds of them need not be written.
  EXPECT_EQ(held(0.9995, moving(0, 1'000'000'000)).outcome, Outcome::kCorrect);
}

TEST(DeviceLimits, FasterThanInputsOrOperationsSuggestIsImplausible) {
  EXPECT_THAT(held(0.9, moving(1'000'000'000, 0)).flags, Contains("implausible"));
  EXPECT_THAT(held(0.9, moving(0, 0, 1'000'000'000)).flags, Contains("implausible"));
  const Record record = held(0.9, moving(1'000'000'000, 0));
  EXPECT_EQ(record.outcome, Outcome::kCorrect);
  EXPECT_EQ(*record.sol->share, 1);
  ASSERT_TRUE(record.sol->plausible_ms);
  EXPECT_GT(*record.sol->plausible_ms, 0.9);
  EXPECT_EQ(speed_of_light_from_json(to_json(*record.sol)).plausible_ms, record.sol->plausible_ms);
  EXPECT_FALSE(held(4, moving(1'000'000'000, 0)).sol->plausible_ms);
}

TEST(DeviceLimits, KernelBenchsVerdictsStay) {
  const Record record = held(0.1, moving(0, 1'000'000'000), kCompatJudge);
  EXPECT_EQ(record.outcome, Outcome::kCorrect);
  EXPECT_THAT(record.flags, Contains("faster_than_memory"));
  EXPECT_THAT(record.flags, Contains("implausible").Times(0));
}

/// A time that counts and is long enough, and one more that something says of it.
Record claimed(void (*claim)(Timing& timing), std::vector<std::string> flags = {},
               const ReferenceWork& reference = {moving(0, 1'000'000'000), 1'000'000'000},
               double time_ms = 4) {
  Record record = samples::correct();
  record.timing->sides["candidate"].median_ms = time_ms;
  record.timing->sides["eager"].median_ms = 5;
  record.flags = std::move(flags);
  record.sol.reset();
  claim(*record.timing);
  hold_against_limits(record, reference, peaks(), {}, true);
  EXPECT_EQ(record.outcome, Outcome::kCorrect);
  return record;
}

constexpr double kTooShort_ms = 0.9;  // 999 MB take 0.999 ms
void trace(Timing& timing) { timing.sides["candidate"].span_ms = kTooShort_ms; }
void trace_busy(Timing& timing) { timing.sides["candidate"].busy_ms = 0; }
void wait(Timing& timing) { timing.sides["candidate"].wall_ms = kTooShort_ms; }
void leave(Timing&) {}

TEST(DeviceLimits, AnyClaimBelowWritingTheOutputsIsFlagged) {
  for (const auto claim : {trace, trace_busy, wait})
    EXPECT_THAT(claimed(claim).flags, Contains("faster_than_memory"));
  EXPECT_THAT(claimed(leave).flags, Not(Contains("faster_than_memory")));
  // Records that lack some of what ran tell nothing.
  EXPECT_THAT(claimed(trace, {"trace_incomplete"}).flags, Not(Contains("faster_than_memory")));
  EXPECT_THAT(claimed(wait, {"trace_incomplete"}).flags, Contains("faster_than_memory"));
}

TEST(DeviceLimits, AClaimOfNoTimeAtAllIsACheat) {
  EXPECT_EQ(held(0, moving(0, 1'000'000'000)).outcome, Outcome::kCheat);
}

TEST(DeviceLimits, WhatNeedsNoWritingCanBeAsFastAsItIs) {
  // Outputs that the L2 holds; a reference that returns views of its inputs.
  for (const std::uint64_t written : {std::uint64_t{900'000}, std::uint64_t{0}})
    EXPECT_THAT(claimed(trace_busy, {}, {moving(1'000'000, written), 1'000'000'000}).flags,
                Not(Contains("faster_than_memory")));
}

TEST(DeviceLimits, OfAReferenceThatCouldNotBeFollowedTheOutputsTell) {
  const Record record = claimed(leave, {}, {std::nullopt, 1'000'000'000}, kTooShort_ms);
  EXPECT_THAT(record.flags, Contains("faster_than_memory"));
  EXPECT_FALSE(record.sol);
}

TEST(DeviceLimits, ABaselineIsHeldToItAsWell) {
  const auto quick = [](Timing& timing) { timing.sides["compile"].median_ms = kTooShort_ms; };
  EXPECT_THAT(claimed(quick).flags, testing::ElementsAre("baseline_faster_than_memory"));
}

TEST(DeviceLimits, WhoRunsNothingIsFlaggedOnEveryDevice) {
  Record record = samples::correct();
  record.kernel_class = "none";
  const Record none = record;
  hold_against_limits(record, {moving(0, 4), 4}, std::nullopt, {}, true);
  EXPECT_THAT(record.flags, Contains("no_kernels"));
  record = none;  // a view is no work
  hold_against_limits(record, {moving(0, 0), 4}, std::nullopt, {}, true);
  EXPECT_THAT(record.flags, Not(Contains("no_kernels")));
  record = none;
  record.judge = kCompatJudge;  // by its rules nobody looks
  hold_against_limits(record, {moving(0, 4), 4}, std::nullopt, {}, true);
  EXPECT_THAT(record.flags, Not(Contains("no_kernels")));
}

TEST(DeviceLimits, OfAnUnknownDeviceTheWorkAloneIsTold) {
  const Record record = held(0.1, moving(1'000'000'000, 5), kOwnJudge, std::nullopt);
  ASSERT_TRUE(record.sol);
  EXPECT_EQ(record.sol->work.written_bytes, 5u);
  EXPECT_FALSE(record.sol->share);
  EXPECT_EQ(record.outcome, Outcome::kCorrect);
}

TEST(DeviceLimits, WhatIsNotRightHasNoShare) {
  Record record = samples::mismatch();
  hold_against_limits(record, {moving(1, 1), 1}, peaks(), {}, true);
  EXPECT_FALSE(record.sol);
}

}  // namespace
}  // namespace kbench::run
