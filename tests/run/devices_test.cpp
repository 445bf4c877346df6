// SPDX-License-Identifier: MIT
#include "run/devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kbench/error.hpp"
#include "kbench/run.hpp"
#include "os/device_probe.hpp"
#include "record/baseline.hpp"

namespace kbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<GpuInfo> gpus(int count) {
  std::vector<GpuInfo> gpus(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    auto& gpu = gpus[static_cast<std::size_t>(i)];
    gpu.index = i;
    gpu.name = "GPU model " + std::to_string(i);
    gpu.uuid = "GPU-" + std::to_string(i);
  }
  return gpus;
}

std::vector<std::string> names(std::string_view option, int count) {
  std::vector<std::string> names;
  for (const auto& device : choose_devices(option, gpus(count))) {
    names.push_back(device.name);
    EXPECT_EQ(device.gpu.has_value(), device.name != "cpu");
    EXPECT_EQ(device.model, device.gpu ? device.gpu->name : "cpu");
    if (device.gpu) {
      EXPECT_EQ(device.name, "cuda:" + std::to_string(device.gpu->index));
      EXPECT_EQ(device.name_inside(), "cuda:0");
      EXPECT_EQ(device.visible_gpu(), device.gpu->uuid);
    }
  }
  return names;
}

std::string refusal(std::string_view option, int count) {
  try {
    choose_devices(option, gpus(count));
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << option << " was taken";
  return {};
}

TEST(ChooseDevices, AutoIsTheFirstGpuElseTheCpu) {
  EXPECT_THAT(names("auto", 0), ElementsAre("cpu"));
  EXPECT_THAT(names("auto", 1), ElementsAre("cuda:0"));
  EXPECT_THAT(names("auto", 4), ElementsAre("cuda:0"));
}

TEST(ChooseDevices, WhatIsNamedIsTaken) {
  EXPECT_THAT(names("cpu", 0), ElementsAre("cpu"));
  EXPECT_THAT(names("cpu", 4), ElementsAre("cpu"));
  EXPECT_THAT(names("cuda", 2), ElementsAre("cuda:0"));
  EXPECT_THAT(names("cuda:1", 2), ElementsAre("cuda:1"));
  EXPECT_THAT(names("cuda:0,1", 2), ElementsAre("cuda:0", "cuda:1"));
  EXPECT_THAT(names("cuda:3,1,0", 4), ElementsAre("cuda:3", "cuda:1", "cuda:0"));
}

TEST(ChooseDevices, AGpuWhereThereIsNoneNamesTheWayOut) {
  for (const char* option : {"cuda", "cuda:0", "cuda:0,1"}) {
    EXPECT_THAT(refusal(option, 0), HasSubstr("--device cpu")) << option;
    EXPECT_THAT(refusal(option, 0), HasSubstr(option));
  }
}

TEST(ChooseDevices, MistakesAreRefusedByName) {
  for (const char* option : {"", "gpu", "CPU", "cpu:0", "cuda:", "cuda0", "rocm", "cpu,cuda"})
    EXPECT_THAT(refusal(option, 2), HasSubstr("auto, cpu, cuda")) << option;
  for (const char* option : {"cuda:x", "cuda:0x", "cuda:0,", "cuda:,0", "cuda:0,,1", "cuda: 0"})
    EXPECT_THAT(refusal(option, 2), HasSubstr("not the number of a GPU")) << option;
  EXPECT_THAT(refusal("cuda:2", 2), HasSubstr("there is no GPU 2"));
  EXPECT_THAT(refusal("cuda:-1", 2), HasSubstr("-1"));
  EXPECT_THAT(refusal("cuda:99999999999", 2), HasSubstr("99999999999"));
}

TEST(ChooseDevices, OneGpuTwiceIsRefused) {
  EXPECT_THAT(refusal("cuda:1,1", 2), HasSubstr("twice"));
}

template <typename Row>
void expect_good_table(std::span<const Row> rows, std::string_view first) {
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().name, first);
  std::set<std::string_view> names;
  for (const auto& row : rows) {
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

TEST(Tables, BaselinesAndPrecisionsHaveNamesOfTheirOwn) {
  expect_good_table(baselines(), "eager");
  expect_good_table(precisions(), "native");
}

TEST(Tables, TheDefaultsOfAnEvaluationAreRows) {
  const EvalOptions options;
  for (const auto& name : options.baselines)
    EXPECT_NE(std::ranges::find(baselines(), name, &Baseline::name), baselines().end());
  EXPECT_NE(std::ranges::find(precisions(), options.precision, &Precision::name),
            precisions().end());
}

}  // namespace
}  // namespace kbench
