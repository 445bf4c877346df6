// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "kbench/error.hpp"
#include "kbench/profile.hpp"

namespace kbench {
namespace {

KernelProfile kernel(std::uint64_t bytes, FlopType type, std::uint64_t flops, bool tensor = false,
                     std::uint64_t launches = 1) {
  KernelProfile profile;
  profile.launches = launches;
  profile.counters.unique_read_bytes = bytes / 2;
  profile.counters.unique_written_bytes = bytes - bytes / 2;
  auto& array = tensor ? profile.counters.tensor_flops : profile.counters.flops;
  array[static_cast<std::size_t>(type)] = flops;
  return profile;
}

TEST(Estimate, EveryGpuHasItsPeaks) {
  std::set<std::string_view> names;
  for (const GpuModel& gpu : gpu_models()) {
    EXPECT_TRUE(names.insert(gpu.name).second) << gpu.name;
    EXPECT_EQ(find_gpu_model(gpu.name), &gpu);
    EXPECT_GT(gpu.dram_gb_s, 500) << gpu.name;
    for (const FlopType type : {FlopType::kFp32, FlopType::kFp16, FlopType::kBf16})
      EXPECT_GT(gpu.tflops[static_cast<std::size_t>(type)], 10) << gpu.name;
    const auto tf32 = static_cast<std::size_t>(FlopType::kTf32);
    EXPECT_GT(gpu.tensor_tflops[tf32], gpu.tflops[tf32]) << gpu.name;
  }
  EXPECT_EQ(find_gpu_model("H2000"), nullptr);
}

TEST(Estimate, AKernelTakesTheLongerOfTrafficAndWork) {
  const GpuModel& gpu = *find_gpu_model("H200");
  // 4.8 GB at 4.8 TB/s are a millisecond, and so are 66.9 GFLOP of fp32.
  EXPECT_NEAR(*estimated_ms(kernel(4'800'000'000, FlopType::kFp32, 1000), gpu), 1.003, 1e-9);
  EXPECT_NEAR(*estimated_ms(kernel(32, FlopType::kFp32, 66'900'000'000), gpu), 1.003, 1e-9);
  EXPECT_NEAR(*estimated_ms(kernel(4'800'000'000, FlopType::kFp32, 133'800'000'000), gpu), 2.003,
              1e-9);
  EXPECT_NEAR(*estimated_ms(kernel(32, FlopType::kBf16, 989'400'000'000, true), gpu), 1.003, 1e-9);
}

TEST(Estimate, LaunchesCostWhateverTheyDo) {
  const GpuModel& gpu = *find_gpu_model("A100");
  EXPECT_NEAR(*estimated_ms(kernel(0, FlopType::kFp32, 0), gpu), 0.003, 1e-9);
  const std::vector<KernelProfile> kernels = {kernel(0, FlopType::kFp32, 0, false, 2),
                                              kernel(0, FlopType::kFp32, 0)};
  EXPECT_NEAR(*estimated_ms(kernels, gpu), 0.006, 1e-9);
}

TEST(Estimate, KernelsAndOperatorsOfOneCallAddUp) {
  const GpuModel& gpu = *find_gpu_model("H200");
  const std::vector<KernelProfile> kernels = {kernel(4'800'000'000, FlopType::kFp32, 0)};
  const std::vector<OperatorCost> operators = {
      {"aten.add", 9'600'000'000, 0, FlopType::kFp32, false},
      {"aten.view", 0, 0, FlopType::kFp32, false}};
  // One of them is the first launch, whichever it is.
  EXPECT_NEAR(*estimated_ms(kernels, operators, gpu), 3.0045, 1e-9);
  EXPECT_NEAR(*estimated_ms(kernels, {}, gpu), *estimated_ms(kernels, gpu), 1e-12);
}

TEST(Estimate, APipeThatTheGpuLacksGivesNone) {
  EXPECT_FALSE(estimated_ms(kernel(0, FlopType::kFp8, 1, true), *find_gpu_model("A100")));
  EXPECT_TRUE(estimated_ms(kernel(0, FlopType::kFp8, 1, true), *find_gpu_model("H100")));
}

TEST(Estimate, OperatorsAreALaunchEachAndViewsAreFree) {
  const GpuModel& gpu = *find_gpu_model("H200");
  const std::vector<OperatorCost> operators = {
      {.name = "aten.mm", .bytes = 48, .flops = 66'900'000'000},
      {.name = "aten.view"},
      {.name = "aten.relu", .bytes = 4'800'000'000}};
  EXPECT_NEAR(*estimated_ms(operators, gpu), 2.0045, 1e-9);
  // Doubles on a GPU whose tensor cores have none take the plain pipe.
  const std::vector<OperatorCost> doubles = {{.name = "aten.mm",
                                              .bytes = 48,
                                              .flops = 1'430'000'000,
                                              .type = FlopType::kFp64,
                                              .tensor_cores = true}};
  EXPECT_NEAR(*estimated_ms(doubles, *find_gpu_model("L40S")), 1.003, 1e-9);
}

TEST(Estimate, TheRatioNeedsBothSides) {
  EXPECT_EQ((TimeEstimate{"H200", 2, 6}.ratio()), 3);
  EXPECT_FALSE((TimeEstimate{"H200", 2, std::nullopt}.ratio()));
  EXPECT_FALSE((TimeEstimate{"H200", std::nullopt, 6}.ratio()));
}

TEST(Estimate, OperatorsSurviveTheWayThroughJson) {
  const OperatorCost cost{
      .name = "aten.mm", .bytes = 12, .flops = 34, .type = FlopType::kBf16, .tensor_cores = true};
  const auto again = operator_cost_from_json(nlohmann::json::parse(to_json(cost).dump()));
  EXPECT_EQ(to_json(again), to_json(cost));
  auto faulty = to_json(cost);
  faulty["type"] = "fp31";
  EXPECT_THROW(operator_cost_from_json(faulty), Error);
}

SmLimits h200() {
  return {.warps = 64,
          .blocks = 32,
          .registers = 65536,
          .shared_bytes = 233472,
          .reserved_shared_bytes = 1024};
}

double occupancy_of(std::uint32_t threads, std::uint32_t registers, std::uint32_t shared_bytes) {
  return occupancy(h200(), threads, {.registers = registers, .dynamic_shared_bytes = shared_bytes});
}

// By hand, from the limits of compute capability 9.0.
TEST(Occupancy, IsWhatWarpsBlocksRegistersAndSharedMemoryLeave) {
  EXPECT_DOUBLE_EQ(occupancy_of(256, 32, 0), 1);
  EXPECT_DOUBLE_EQ(occupancy_of(256, 64, 0), 0.5);           // 32 warps of 2048 registers
  EXPECT_DOUBLE_EQ(occupancy_of(256, 33, 0), 6 * 8 / 64.0);  // 1280 a warp: 51, 48 in fours
  EXPECT_DOUBLE_EQ(occupancy_of(32, 16, 0), 0.5);            // 32 blocks of one warp
  EXPECT_DOUBLE_EQ(occupancy_of(1024, 16, 0), 1);
  EXPECT_DOUBLE_EQ(occupancy_of(768, 16, 0), 48 / 64.0);              // two of 24 warps
  EXPECT_DOUBLE_EQ(occupancy_of(256, 32, 100 * 1024), 2 * 8 / 64.0);  // two of 101 KB in 228
  EXPECT_DOUBLE_EQ(occupancy_of(128, 255, 0), 8 / 64.0);              // 8192 a warp: 8
  EXPECT_DOUBLE_EQ(occupancy_of(1, 0, 0), 0.5);
}

TEST(Occupancy, SurvivesTheWayThroughJson) {
  KernelProfile profile = kernel(8, FlopType::kFp32, 4);
  profile.gpu = {.ms = 0.25,
                 .registers = 40,
                 .static_shared_bytes = 128,
                 .dynamic_shared_bytes = 256,
                 .occupancy = 0.75};
  const auto gpu = kernel_profile_from_json(to_json(profile)).gpu;
  ASSERT_TRUE(gpu.has_value());
  EXPECT_EQ(gpu->ms, 0.25);
  EXPECT_EQ(gpu->registers, 40u);
  EXPECT_EQ(gpu->static_shared_bytes, 128u);
  EXPECT_EQ(gpu->dynamic_shared_bytes, 256u);
  EXPECT_EQ(gpu->occupancy, 0.75);
  profile.gpu.reset();
  EXPECT_FALSE(kernel_profile_from_json(to_json(profile)).gpu.has_value());
}

}  // namespace
}  // namespace kbench
