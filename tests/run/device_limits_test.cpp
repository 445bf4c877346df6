// SPDX-License-Identifier: MIT
#include "run/device_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/run_samples.hpp"

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
  hold_against_limits(record, work, device, measured, true);
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
  EXPECT_THAT(record.flags, Contains("implausible").Times(0));
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
  hold_against_limits(record, moving(1, 1), peaks(), {}, true);
  EXPECT_FALSE(record.sol);
}

}  // namespace
}  // namespace kbench::run
