// SPDX-License-Identifier: MIT
// Work of known duration on a GPU, timed behind the gate.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/known_times.hpp"

namespace kbench::test {
namespace {

using testing::Contains;

TEST_F(KnownTimes, TheGateAddsAMicrosecondForEachLaunch) {
  // An H200 takes 1.5 µs from the end of one kernel of a stream to the start of the next.
  constexpr double kLaunch_ms = 0.0016, kCall_ms = 0.0003;
  for (const int launches : {1, 20, 200})
    for (const int ns : {5'000, 200'000}) {
      const std::vector<int> durations(static_cast<std::size_t>(launches), ns);
      const std::string loop = fmt::format(
          "        for _ in range({}):\n            self.launch(x, y, {})\n", launches, ns);
      const Record kernel = eval_spins(durations);
      const Record module = eval_module(loop);
      for (const Record* record : {&kernel, &module}) {
        SCOPED_TRACE(fmt::format("{} launches of {} ns: {}", launches, ns,
                                 testing::PrintToString(record->flags)));
        ASSERT_TRUE(record->timing.has_value());
        EXPECT_EQ(record->timing->method.str(), "gated");
        const double told_ms = launches * ns * 1e-6, median_ms = candidate_of(*record).median_ms;
        EXPECT_GE(median_ms, told_ms - tolerance_ms(told_ms));
        EXPECT_LE(median_ms, told_ms + launches * kLaunch_ms + kCall_ms + tolerance_ms(told_ms));
      }
      const double kernel_ms = candidate_of(kernel).median_ms;
      EXPECT_NEAR(candidate_of(module).median_ms, kernel_ms, tolerance_ms(kernel_ms));
    }
}

TEST_F(KnownTimes, CallsThatAreComputedTogetherCountAlone) {
  // The first call of a block computes the answers of all its calls in the time of one. Another
  // call computes its own answer if the first call found another input than it does.
  const Record record = eval("a.py", R"(import torch

SOURCE = r"""
__device__ void spin(long long ns) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - start < (unsigned long long)ns);
}
__global__ void all_calls(const long long* xs, float* ys, float* found, int n) {
  const float* x = (const float*)xs[blockIdx.x];
  spin(100000);
  for (int i = threadIdx.x; i < n; i += blockDim.x) ys[blockIdx.x * n + i] = x[i] + 1;
  if (threadIdx.x == 0) found[blockIdx.x] = x[0];
}
__global__ void one_call(const float* x, const float* ready, const float* found, float* y, int n) {
  const bool is_there = *found == x[0];
  if (!is_there) spin(100000);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = is_there ? ready[i] : x[i] + 1;
}
"""


class ModelNew(torch.nn.Module):
    seen, timed, new = set(), [], []

    def __init__(self):
        super().__init__()
        self.all = torch.cuda._compile_kernel(SOURCE, "all_calls")
        self.one = torch.cuda._compile_kernel(SOURCE, "one_call")

    def forward(self, x):
        c, key, stream = ModelNew, x.data_ptr(), torch.cuda.current_stream()
        if not hasattr(c, "ys"):
            c.ys = torch.empty(64, 4096, device="cuda")
            c.found = torch.full((64,), float("nan"), device="cuda")
        if key not in c.seen:
            c.seen.add(key)
            c.new.append(key)
        else:
            if len(c.new) >= 8 and not c.timed:
                c.timed = list(c.new)
                c.xs = torch.tensor(c.timed).cuda()
            c.new = []
        if c.timed and key == c.timed[0]:
            self.all((len(c.timed), 1, 1), (256, 1, 1), (c.xs, c.ys, c.found, 4096), stream=stream)
        k = c.timed.index(key) if key in c.timed else 63
        y = torch.empty_like(x)
        self.one((1, 1, 1), (256, 1, 1), (x, c.ys[k], c.found[k:], y, 4096), stream=stream)
        return y
)");
  ASSERT_TRUE(record.timing.has_value());
  EXPECT_EQ(record.timing->method.str(), "gated") << testing::PrintToString(record.flags);
  EXPECT_THAT(record.flags, Contains("batched_calls"));
  EXPECT_GE(candidate_of(record).median_ms, 0.1);
}

}  // namespace
}  // namespace kbench::test
