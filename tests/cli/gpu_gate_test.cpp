// SPDX-License-Identifier: MIT
// Times behind the judge's gate, on a real GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/gpu_fixture.hpp"
#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::Not;

const std::string kProblem = R"(import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(512, 512)

    def forward(self, x):
        return torch.relu(self.linear(x))


def get_inputs():
    return [torch.randn(256, 512)]


def get_init_inputs():
    return []
)";

class GpuGate : public Gpu {
 protected:
  /// The record of a module whose `forward` has these lines after `x`.
  Record judged(const std::string& lines, const std::string& init = {}) {
    const auto problem = folder_.write("gate/level1/1_Linear.py", kProblem);
    const auto file =
        folder_.write("module.py",
                      "import torch\nimport torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n"
                      "    def __init__(self):\n        super().__init__()\n"
                      "        self.linear = nn.Linear(512, 512)\n" +
                          init + "\n    def forward(self, x):\n" + lines);
    const auto log = folder_.path() / ("gate" + std::to_string(++modules_) + ".jsonl");
    const auto result =
        run_kbench({"eval", "--candidate", file.string(), "--problem", problem.string(), "--device",
                    "cuda:0", "--timing", "gate", "--out", log.string()});
    EXPECT_EQ(result.status.code, 0) << result.error;
    return read_run(log).records.at(0);
  }
  int modules_ = 0;
};

TEST_F(GpuGate, TimesAModuleByTheJudgesClock) {
  const Record record = judged("        return torch.relu(self.linear(x))\n");
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->method.str(), "gated") << testing::PrintToString(record.flags);
  EXPECT_EQ(record.timing->trust.str(), "own_clock");
  EXPECT_EQ(record.kernel_class.str(), "library");
  ASSERT_EQ(record.speedup.size(), 1u);
  EXPECT_NEAR(record.speedup[0].value, 1, 0.03) << "it is the reference";
}

/// A loop that takes most of the time, on a stream of its own.
TEST_F(GpuGate, CountsWorkOnASideStream) {
  const std::string side =
      "        side = torch.cuda.Stream()\n        side.wait_stream(torch.cuda.current_stream())\n"
      "        with torch.cuda.stream(side):\n"
      "            for _ in range(40):\n                self.sink = x * 2\n"
      "        return torch.relu(self.linear(x))\n";
  const Record record = judged(side);
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->method.str(), "gated") << testing::PrintToString(record.flags);
  EXPECT_LT(record.speedup.at(0).value, 0.5);
}

TEST_F(GpuGate, TimesInAnotherWayWhatCannotBeQueued) {
  const Record waits = judged(
      "        self.last = float(x[0, 0].item())\n        return torch.relu(self.linear(x))\n");
  EXPECT_EQ(to_string(waits.outcome), "correct") << waits.message;
  EXPECT_THAT(waits.flags, Contains("gate_synchronizes"));
  ASSERT_TRUE(waits.timing);
  EXPECT_NE(waits.timing->method.str(), "gated");
  const Record kept = judged(
      "        if self.out is None:\n            self.out = torch.empty(256, 512, "
      "device=x.device)\n"
      "        return self.out.copy_(torch.relu(self.linear(x)))\n",
      "        self.out = None\n");
  EXPECT_EQ(to_string(kept.outcome), "correct") << kept.message;
  EXPECT_THAT(kept.flags, Contains("gate_outputs_elsewhere"));
}

TEST_F(GpuGate, TimesAKernelAndItsBaselineAlike) {
  const auto result = run_kbench(arguments({"--timing", "gate"}));
  EXPECT_EQ(result.status.code, 0) << result.error;
  const Record record = read_run(out()).records.at(0);
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->method.str(), "gated") << testing::PrintToString(record.flags);
  EXPECT_THAT(record.flags, Not(Contains("gate_no_baseline")));
}

}  // namespace
}  // namespace kbench::test
