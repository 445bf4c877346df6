// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "kbench/profile.hpp"
#include "os/device_probe.hpp"

namespace kbench {
namespace {

constexpr auto kFp32 = static_cast<std::size_t>(FlopType::kFp32);
constexpr auto kBf16 = static_cast<std::size_t>(FlopType::kBf16);
constexpr auto kFp8 = static_cast<std::size_t>(FlopType::kFp8);

/// As an H200's driver describes it.
GpuInfo h200() {
  GpuInfo gpu;
  gpu.compute_major = 9;
  gpu.sms = 132;
  gpu.clock_khz = 1'980'000;
  gpu.memory_clock_khz = 3'201'000;
  gpu.memory_bus_bits = 6144;
  gpu.l2_bytes = 60u << 20;
  return gpu;
}

LeastWork moving(std::uint64_t read, std::uint64_t written) {
  LeastWork work;
  work.read_bytes = read;
  work.written_bytes = written;
  return work;
}

TEST(Peaks, OfAnH200AreThoseOfItsDataSheet) {
  const auto peaks = peaks_of(h200());
  ASSERT_TRUE(peaks);
  EXPECT_NEAR(peaks->memory_bytes_s, 4.8e12, 0.2e12);
  // The data sheet gives tensor cores at a lower clock than the highest.
  EXPECT_NEAR(peaks->flops_s[kBf16], 989e12, 90e12);
  EXPECT_NEAR(peaks->flops_s[kFp8], 1979e12, 180e12);
  // Three products in tf32 are one in fp32, and faster than the plain pipe's 67e12.
  EXPECT_NEAR(peaks->flops_s[kFp32], 495e12 / 3, 15e12);
}

TEST(Peaks, OfAnUnknownArchitectureAreItsMemorysAlone) {
  GpuInfo gpu = h200();
  gpu.compute_major = 99;
  const auto peaks = peaks_of(gpu);
  ASSERT_TRUE(peaks);
  EXPECT_GT(peaks->memory_bytes_s, 1e12);
  for (const double flops : peaks->flops_s) EXPECT_EQ(flops, 0);
  gpu.memory_clock_khz = 0;
  EXPECT_FALSE(peaks_of(gpu));
}

TEST(SpeedOfLight, IsTheLongerOfMovingAndComputing) {
  const auto peaks = peaks_of(h200());
  const double second = peaks->memory_bytes_s;
  LeastWork work =
      moving(static_cast<std::uint64_t>(second / 4000), static_cast<std::uint64_t>(second / 4000));
  const SpeedOfLight memory = speed_of_light(work, peaks, 1.0);
  EXPECT_NEAR(*memory.limit_ms, 0.5, 1e-6);
  EXPECT_EQ(memory.limited_by, "memory");
  EXPECT_NEAR(*memory.share, 0.5, 1e-6);
  work.flops[kBf16] = static_cast<std::uint64_t>(peaks->flops_s[kBf16] / 1000 * 0.8);
  const SpeedOfLight compute = speed_of_light(work, peaks, 1.0);
  EXPECT_NEAR(*compute.limit_ms, 0.8, 1e-6);
  EXPECT_EQ(compute.limited_by, "compute");
}

TEST(SpeedOfLight, SaysNoMoreThanItKnows) {
  const LeastWork work = moving(1000, 1000);
  const SpeedOfLight no_device = speed_of_light(work, std::nullopt, 1.0);
  EXPECT_FALSE(no_device.limit_ms);
  EXPECT_FALSE(no_device.share);
  EXPECT_TRUE(no_device.limited_by.empty());
  const SpeedOfLight untimed = speed_of_light(work, peaks_of(h200()), std::nullopt);
  EXPECT_TRUE(untimed.limit_ms);
  EXPECT_FALSE(untimed.share);
}

TEST(SpeedOfLight, OutputsThatTheL2HoldsNeedNotBeWritten) {
  const auto peaks = peaks_of(h200());
  EXPECT_EQ(least_write_ms(moving(1u << 30, 50u << 20), *peaks), 0);
  const double ms = least_write_ms(moving(0, 1u << 30), *peaks);
  EXPECT_NEAR(ms, ((1u << 30) - (60u << 20)) / peaks->memory_bytes_s * 1e3, 1e-9);
}

TEST(SpeedOfLight, AWarmL2HoldsInputs) {
  const auto peaks = peaks_of(h200());
  const LeastWork work = moving(100u << 20, 0);
  EXPECT_GT(least_call_ms(work, *peaks, true), least_call_ms(work, *peaks, false));
  EXPECT_EQ(least_call_ms(moving(50u << 20, 0), *peaks, false), 0);
}

TEST(SpeedOfLight, SurvivesItsJson) {
  LeastWork work = moving(123, 456);
  work.flops[kBf16] = 1'000'000'007;
  const SpeedOfLight before = speed_of_light(work, peaks_of(h200()), 0.25);
  const SpeedOfLight after = speed_of_light_from_json(to_json(before));
  EXPECT_EQ(after.work.read_bytes, 123u);
  EXPECT_EQ(after.work.written_bytes, 456u);
  EXPECT_EQ(after.work.flops, work.flops);
  EXPECT_EQ(after.limited_by, before.limited_by);
  EXPECT_NEAR(*after.limit_ms, *before.limit_ms, 1e-5 * *before.limit_ms);
  EXPECT_FALSE(speed_of_light_from_json(to_json(speed_of_light(work, {}, {}))).limit_ms);
  EXPECT_THROW(speed_of_light_from_json({{"read_bytes", 1}}), Error);
  nlohmann::json unknown = to_json(before);
  unknown["flops"] = {{"fp3", 1}};
  EXPECT_THROW(speed_of_light_from_json(unknown), Error);
}

}  // namespace
}  // namespace kbench
