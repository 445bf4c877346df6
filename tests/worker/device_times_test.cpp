// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "worker/device/device.hpp"

namespace kbench::worker {
namespace {

DeviceActivity between(std::uint64_t start_ns, std::uint64_t end_ns, std::string kernel = "") {
  DeviceActivity piece;
  piece.kernel = std::move(kernel);
  piece.start_ns = start_ns;
  piece.end_ns = end_ns;
  return piece;
}

DeviceTimes of(const std::vector<DeviceActivity>& activity) {
  return times_of(activity).value_or(DeviceTimes{});
}

TEST(DeviceTimes, NothingTakesNoTime) { EXPECT_FALSE(times_of({}).has_value()); }

TEST(DeviceTimes, GapsAreInTheSpanAlone) {
  const DeviceTimes times = of({between(1'000'000, 3'000'000), between(7'000'000, 8'000'000)});
  EXPECT_DOUBLE_EQ(times.span_ms, 7);
  EXPECT_DOUBLE_EQ(times.busy_ms, 3);
}

TEST(DeviceTimes, WhatRunsInTheShadowOfAnotherCountsOnce) {
  const DeviceTimes times = of({between(0, 10'000'000), between(2'000'000, 5'000'000),
                                between(8'000'000, 12'000'000), between(12'000'000, 13'000'000)});
  EXPECT_DOUBLE_EQ(times.span_ms, 13);
  EXPECT_DOUBLE_EQ(times.busy_ms, 13);
}

TEST(DeviceTimes, ReportsAreOfKernelsByTheirNames) {
  std::vector<DeviceActivity> activity{between(0, 2'000'000),
                                       between(3'000'000, 5'500'000, "_Z4reluILi4EEvPfS0_i")};
  activity[1].grid = {7, 2, 1};
  activity[1].block = {128, 1, 1};
  activity[1].registers = 40;
  activity[1].static_shared_bytes = 1024;
  activity[1].dynamic_shared_bytes = 2048;
  const auto reports = reports_of(activity);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kernel, "relu<4>");
  EXPECT_EQ(reports[0].grid, (std::array<std::uint32_t, 3>{7, 2, 1}));
  EXPECT_EQ(reports[0].block, (std::array<std::uint32_t, 3>{128, 1, 1}));
  ASSERT_TRUE(reports[0].gpu.has_value());
  EXPECT_DOUBLE_EQ(reports[0].gpu->ms, 2.5);
  EXPECT_EQ(reports[0].gpu->registers, 40u);
  EXPECT_EQ(reports[0].gpu->static_shared_bytes, 1024u);
  EXPECT_EQ(reports[0].gpu->dynamic_shared_bytes, 2048u);
}

TEST(DeviceTimes, TheCpuHasNoRecords) {
  const auto device = open_cpu_device();
  std::vector<double> times;
  int calls = 0;
  for (const bool records : {false, true}) device->call_timed([&] { ++calls; }, records, times);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(times.empty());
}

}  // namespace
}  // namespace kbench::worker
