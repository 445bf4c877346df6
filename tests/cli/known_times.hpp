// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/kbench_process.hpp"
#include "os/device_probe.hpp"

/// Candidates whose work has a known duration on a GPU.
namespace kbench::test {

/// A kernel that adds one and spins for `ns` nanoseconds.
inline std::string spin(const std::string& name) {
  return "extern \"C\" __global__ void " + name + R"((const float* x, float* y, int n, int ns) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - start < (unsigned long long)ns);
}
)";
}

class KnownTimes : public testing::Test {
 protected:
  void SetUp() override {
    if (probe_gpus().empty()) GTEST_SKIP() << "no GPU on this machine";
    folder_.write("set/level1/1_AddOne.py", add_one_problem(4096));
  }

  /// The record of a candidate, which must be correct.
  Record eval(const std::string& name, const std::string& source,
              const std::vector<std::string>& more = {}) {
    const std::string candidates = fmt::format("candidates{}", ++runs_);
    folder_.write(candidates + "/me/1_AddOne/" + name, source);
    const std::filesystem::path out = folder_.path() / (candidates + ".jsonl");
    std::vector<std::string> arguments{"eval",         (folder_.path() / "set").string(),
                                       "--candidates", (folder_.path() / candidates).string(),
                                       "--device",     "cuda:0",
                                       "--out",        out.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, 0) << result.error;
    Record record = whole_records(out).at(0);
    EXPECT_EQ(record.outcome, Outcome::kCorrect) << record.cause.str() << ": " << record.message;
    return record;
  }

  /// The record of a kernel candidate that launches the spinning kernel once for each duration.
  Record eval_spins(const std::vector<int>& durations_ns,
                    const std::vector<std::string>& more = {}) {
    std::string source = "//@ dims x[N]\n//@ out y like x\n";
    for (const int ns : durations_ns)
      source += fmt::format("//@ spin<<<cdiv(N, 256), 256>>>(x, y, N, {})\n", ns);
    return eval("a.cu", source + spin("spin"), more);
  }

  /// A module whose forward is `body`, indented by eight; `launch(x, y, ns)` runs the kernel.
  Record eval_module(const std::string& body, const std::vector<std::string>& more = {}) {
    return eval("a.py", R"(import time

import torch

SOURCE = r"""
)" + spin("spin") + R"("""


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.cuda._compile_kernel(SOURCE, "spin")
        self.other = torch.cuda.Stream()

    def launch(self, x, y, ns):
        self.kernel((16, 1, 1), (256, 1, 1), (x, y, 4096, ns), stream=torch.cuda.current_stream())

    def forward(self, x):
        y = torch.empty_like(x)
        z = torch.empty_like(x)
        here = torch.cuda.current_stream()
)" + body + "        return y\n",
                more);
  }

  TempFolder folder_;
  int runs_ = 0;
};

inline const SideTiming& candidate_of(const Record& record) {
  return record.timing->sides.at("candidate");
}

/// 2 %, but at least half a microsecond.
inline double tolerance_ms(double ms) { return std::max(0.02 * ms, 0.0005); }

}  // namespace kbench::test
