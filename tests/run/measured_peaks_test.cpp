// SPDX-License-Identifier: MIT
#include "run/eval/measured_peaks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/test_folder.hpp"
#include "os/device_probe.hpp"
#include "run/devices.hpp"
#include "run/fake_host.hpp"

namespace kbench::run {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kFp32 = static_cast<std::size_t>(FlopType::kFp32);

QueueDevice gpu() {
  QueueDevice device{.name = "cuda:1", .model = "NVIDIA H200", .gpu = GpuInfo{}};
  device.gpu->uuid = "GPU-1";
  device.gpu->driver_version = 13000;
  return device;
}

class MeasuredPeaks : public testing::Test {
 protected:
  std::optional<Peaks> measure(const std::string& judge, const QueueDevice& device = gpu()) {
    WorkerHost host(fake_installation("ok", judge), -1, short_limits());
    return measured_peaks(host, device, folder_.path() / "peaks", -1);
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> files;
    if (std::filesystem::exists(folder_.path() / "peaks"))
      for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "peaks"))
        files.push_back(entry.path());
    return files;
  }

  test::ScratchFolder folder_;
};

TEST_F(MeasuredPeaks, AreMeasuredOnceAndKept) {
  const auto peaks = measure("ok");
  ASSERT_TRUE(peaks.has_value());
  EXPECT_DOUBLE_EQ(peaks->memory_bytes_s, 4e12);
  EXPECT_DOUBLE_EQ(peaks->flops_s[kFp32], 5e13);
  ASSERT_THAT(files(), SizeIs(1));
  const auto again = measure("dies_on_measuring");
  ASSERT_TRUE(again.has_value()) << "it was asked once more";
  EXPECT_DOUBLE_EQ(again->flops_s[kFp32], 5e13);
}

TEST_F(MeasuredPeaks, AnotherDriverIsAnotherMeasurement) {
  measure("ok");
  QueueDevice newer = gpu();
  newer.gpu->driver_version = 13010;
  EXPECT_TRUE(measure("ok", newer).has_value());
  EXPECT_THAT(files(), SizeIs(2));
}

TEST_F(MeasuredPeaks, WhatWasCutOffIsMeasuredAgain) {
  measure("ok");
  std::ofstream(files().at(0)) << R"({"memory_bytes_s": 4e)";
  EXPECT_TRUE(measure("ok").has_value());
  std::ofstream(files().at(0)) << R"({"memory_bytes_s": "much"})";
  EXPECT_TRUE(measure("ok").has_value());
}

TEST_F(MeasuredPeaks, WhereItFailsThereAreNone) {
  EXPECT_FALSE(measure("cannot_measure").has_value());
  EXPECT_FALSE(measure("dies_on_measuring").has_value());
  EXPECT_FALSE(measure("ok", {.name = "cpu", .model = "cpu", .gpu = {}}).has_value());
  EXPECT_THAT(files(), IsEmpty());
}

}  // namespace
}  // namespace kbench::run
