// SPDX-License-Identifier: MIT
// Work of known duration on a GPU.
#include "cli/known_times.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace kbench::test {
namespace {

using testing::Contains;
using testing::Not;
using testing::SizeIs;

/// The time of a launch's begin and end. The kernel's own time is by the GPU's clock.
constexpr double kEdges_ms = 0.002;

/// A kernel that takes 1 ms or 1.2 ms, by turns of 67 ms.
std::string noisy() {
  std::string source = "//@ dims x[N]\n//@ out y like x\n//@ noisy<<<1, 256>>>(x, y, N)\n";
  source += R"(
extern "C" __global__ void noisy(const float* x, float* y, int n) {
  __shared__ unsigned long long end;
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  if (threadIdx.x == 0) end = now + ((now >> 26 & 1) == 0 ? 1000000 : 1200000);
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] + 1.0f;
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now < end);
}
)";
  return source;
}

TEST_F(KnownTimes, AKernelsDurationIsItsTime) {
  for (const int ns : {2'000, 20'000, 500'000, 5'000'000, 50'000'000}) {
    const Record record = eval_spins({ns});
    ASSERT_TRUE(record.timing.has_value());
    EXPECT_EQ(record.timing->method, "gated");
    const SideTiming& side = candidate_of(record);
    const double told_ms = ns * 1e-6;
    // The tolerance is needed because the clock in the kernel moves in steps.
    EXPECT_GE(side.median_ms, told_ms - tolerance_ms(told_ms));
    EXPECT_LE(side.median_ms, told_ms + kEdges_ms + tolerance_ms(told_ms));
    ASSERT_TRUE(side.span_ms && side.busy_ms);
    EXPECT_NEAR(*side.busy_ms, told_ms, kEdges_ms + tolerance_ms(told_ms));
    EXPECT_DOUBLE_EQ(*side.span_ms, *side.busy_ms) << "one kernel has no gaps";
  }
}

TEST_F(KnownTimes, KnownNoiseIsTheSpread) {
  const Record record = eval("a.cu", noisy());
  ASSERT_TRUE(record.timing.has_value());
  const SideTiming& side = candidate_of(record);
  EXPECT_NEAR(side.min_ms, 1.0, 0.02);
  EXPECT_NEAR(side.max_ms, 1.2, 0.024);
  EXPECT_GT(side.std_ms, 0.05);
}

TEST_F(KnownTimes, TheBudgetSaysHowOftenIsMeasured) {
  // The times vary too much for a precise interval, so only the budget ends the timing.
  const Record brief = eval("a.cu", noisy(), {"--timing-budget", "0.1"});
  const Record thorough = eval("a.cu", noisy(), {"--timing-budget", "1"});
  ASSERT_TRUE(brief.timing.has_value() && thorough.timing.has_value());
  EXPECT_GE(candidate_of(brief).count, 10);
  EXPECT_GE(candidate_of(thorough).count, 2 * candidate_of(brief).count);
}

TEST_F(KnownTimes, TheDeviceIsMeasuredOnce) {
  const Record record = eval_spins({20'000});
  ASSERT_TRUE(record.sol && record.sol->share && record.sol->share_measured);
  // A copy cannot be faster than the memory's clock and width allow, but nearly as fast.
  EXPECT_GE(*record.sol->share_measured, *record.sol->share);
  EXPECT_LE(*record.sol->share_measured, 2 * *record.sol->share);
}

TEST_F(KnownTimes, NsightComputeSaysWhatItSees) {
  if (std::system("ncu --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no ncu on this machine";
  eval_spins({100'000}, {"--profile", "ncu"});
  const auto out = folder_.path() / fmt::format("candidates{}.jsonl", runs_);
  const auto shown = run_kbench({"show", out.string(), "1_AddOne"});
  EXPECT_THAT(shown.output, testing::HasSubstr("Nsight Compute"));
  EXPECT_THAT(shown.output, testing::HasSubstr("Theoretical Occupancy")) << shown.output;
}

TEST_F(KnownTimes, LaunchesAddUpAndACallerWaitsForThem) {
  const Record record = eval_spins({300'000, 200'000, 100'000});
  ASSERT_TRUE(record.timing.has_value());
  const SideTiming& side = candidate_of(record);
  EXPECT_NEAR(side.median_ms, 0.6, 0.02);
  EXPECT_NEAR(*side.busy_ms, 0.6, 0.015);
  ASSERT_TRUE(side.wall_ms.has_value());
  EXPECT_GT(*side.wall_ms, 0.59);
  EXPECT_LT(*side.wall_ms, 1.2);
}

TEST_F(KnownTimes, WorkOnASideStreamIsInTheTime) {
  const Record record = eval_module(R"(        self.launch(x, z, 50_000)
        self.other.wait_stream(here)
        with torch.cuda.stream(self.other):
            self.launch(x, y, 2_000_000)
        here.wait_stream(self.other)
)");
  ASSERT_TRUE(record.timing.has_value());
  const SideTiming& side = candidate_of(record);
  ASSERT_TRUE(side.span_ms && side.busy_ms);
  EXPECT_NEAR(*side.busy_ms, 2.05, 0.05);
  // No launch from Python is in the time.
  EXPECT_GT(side.median_ms, 2);
  EXPECT_LT(side.median_ms, 2.15);
}

TEST_F(KnownTimes, WhatRunsInTheShadowOfAnotherIsNotAddedUp) {
  const Record record = eval_module(R"(        self.other.wait_stream(here)
        with torch.cuda.stream(self.other):
            self.launch(x, y, 3_000_000)
        self.launch(x, z, 2_000_000)
        here.wait_stream(self.other)
)");
  ASSERT_TRUE(record.timing.has_value());
  const SideTiming& side = candidate_of(record);
  ASSERT_TRUE(side.span_ms && side.busy_ms);
  EXPECT_NEAR(*side.busy_ms, 3, 0.15);
  EXPECT_NEAR(side.median_ms, 3, 0.1);
  EXPECT_THAT(record.flags, Not(Contains("host_bound")));
}

TEST_F(KnownTimes, GapsOfTheHostAreAFlagAndInNoTime) {
  const Record record = eval_module(R"(        self.launch(x, z, 200_000)
        time.sleep(0.005)
        self.launch(x, y, 200_000)
)");
  ASSERT_TRUE(record.timing.has_value());
  const SideTiming& side = candidate_of(record);
  ASSERT_TRUE(side.span_ms && side.busy_ms);
  EXPECT_NEAR(*side.busy_ms, 0.4, 0.02);
  EXPECT_NEAR(side.median_ms, 0.4, 0.02);
  ASSERT_TRUE(side.wall_ms.has_value());
  EXPECT_GT(*side.wall_ms, 5);
  EXPECT_THAT(record.flags, Contains("host_bound"));
}

TEST_F(KnownTimes, AModuleThatIsTheReferenceTakesAsLong) {
  // 64 MB, and 4 GB, for which a block has few calls.
  for (const int elements : {1 << 24, 1 << 30}) {
    SCOPED_TRACE(elements);
    folder_.write("set/level1/1_AddOne.py", add_one_problem(elements));
    const Record record = eval("a.py",
                               "import torch\n\n\nclass ModelNew(torch.nn.Module):\n"
                               "    def forward(self, x):\n        return x + 1\n");
    ASSERT_TRUE(record.timing.has_value());
    EXPECT_EQ(record.timing->method, "gated") << testing::PrintToString(record.flags);
    ASSERT_THAT(record.speedup, SizeIs(1));
    EXPECT_NEAR(record.speedup[0].value, 1, 0.01);
  }
}

TEST_F(KnownTimes, AProfileHasEachLaunch) {
  const Record record = eval_spins({300'000, 100'000}, {"--profile"});
  ASSERT_THAT(record.profile, SizeIs(1)) << "both have one shape";
  const KernelProfile& kernel = record.profile[0];
  EXPECT_EQ(kernel.kernel, "spin");
  EXPECT_EQ(kernel.launches, 2u);
  EXPECT_EQ(kernel.grid, (std::array<std::uint32_t, 3>{16, 1, 1}));
  EXPECT_EQ(kernel.block, (std::array<std::uint32_t, 3>{256, 1, 1}));
  ASSERT_TRUE(kernel.gpu.has_value());
  EXPECT_NEAR(kernel.gpu->ms, 0.4, 0.01);
  EXPECT_GT(kernel.gpu->registers, 0u);
  EXPECT_EQ(kernel.gpu->occupancy, 1) << "few registers, no shared memory";
  EXPECT_FALSE(record.estimate.has_value());
  const Record module = eval_module("        self.launch(x, y, 300_000)\n", {"--profile"});
  ASSERT_THAT(module.profile, SizeIs(1));
  EXPECT_EQ(module.profile[0].kernel, "spin");
  EXPECT_NEAR(module.profile[0].gpu->ms, 0.3, 0.01);
}

}  // namespace
}  // namespace kbench::test
