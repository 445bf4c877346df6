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

const std::string kSoftmax = R"(import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


def get_inputs():
    return [torch.randn(16, 512)]


def get_init_inputs():
    return []
)";

const std::string kLinear = "        self.linear = nn.Linear(512, 512)\n";

class GpuGate : public Gpu {
 protected:
  /// The record of a module whose `forward` has these lines after `x`.
  Record judged(const std::string& lines, const std::string& init = {},
                const std::string& text = kProblem) {
    const auto problem = folder_.write("gate/level1/1_Linear.py", text);
    const auto file =
        folder_.write("module.py",
                      "import torch\nimport torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n"
                      "    def __init__(self):\n        super().__init__()\n" +
                          (text == kSoftmax ? std::string() : kLinear) + init +
                          "\n    def forward(self, x):\n" + lines);
    const auto log = folder_.path() / ("gate" + std::to_string(++modules_) + ".jsonl");
    const auto result = run_kbench({"eval", "--candidate", file.string(), "--problem",
                                    problem.string(), "--device", "cuda:0", "--out", log.string()});
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

/// A loop on a stream of its own takes most of the time.
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

/// Two parts of the work run at the same time, which is no slower than one after the other.
TEST_F(GpuGate, ASideStreamThatIsJoinedCostsNoTimeSlice) {
  const Record record = judged(
      "        side, here = self.side, torch.cuda.current_stream()\n        "
      "side.wait_stream(here)\n"
      "        with torch.cuda.stream(side):\n            left = self.linear(x[:128])\n"
      "        right = self.linear(x[128:])\n        here.wait_stream(side)\n"
      "        left.record_stream(here)\n        return torch.relu(torch.cat([left, right]))\n",
      "        self.side = torch.cuda.Stream()\n");
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->method.str(), "gated") << testing::PrintToString(record.flags);
  EXPECT_LT(record.timing->sides.at("candidate").median_ms, 0.2);
}

TEST_F(GpuGate, TimesAloneWhatCannotBeQueuedAndCopiesOutputsThatAreUsedAgain) {
  const Record waits = judged(
      "        self.last = float(x[0, 0].item())\n        return torch.relu(self.linear(x))\n");
  EXPECT_EQ(to_string(waits.outcome), "correct") << waits.message;
  EXPECT_THAT(waits.flags, Contains("gate_synchronizes"));
  ASSERT_TRUE(waits.timing);
  EXPECT_EQ(waits.timing->method.str(), "bounded");
  EXPECT_EQ(waits.timing->trust.str(), "bounded");
  const Record kept = judged(
      "        if self.out is None:\n            self.out = torch.empty(256, 512, "
      "device=x.device)\n"
      "        return self.out.copy_(torch.relu(self.linear(x)))\n",
      "        self.out = None\n");
  EXPECT_EQ(to_string(kept.outcome), "correct") << kept.message;
  EXPECT_THAT(kept.flags, Contains("reuses_output"));
  ASSERT_TRUE(kept.timing);
  EXPECT_EQ(kept.timing->method.str(), "gated");
}

TEST_F(GpuGate, TimesManyLaunchesInShorterBlocks) {
  const Record record = judged(
      "        y = self.linear(x)\n"
      "        for _ in range(300):\n            y = torch.relu(y)\n"
      "        return y\n");
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->method.str(), "gated") << testing::PrintToString(record.flags);
}

TEST_F(GpuGate, TimesAModelWithRunningStatistics) {
  const auto from = kProblem.find("torch.relu(self.linear(x))");
  std::string problem = kProblem;
  problem.replace(from, 26, "self.norm(self.linear(x))");
  problem.replace(problem.find("        self.linear ="), 0,
                  "        self.norm = nn.BatchNorm1d(512)\n");
  const Record record = judged("        return self.norm(self.linear(x))\n",
                               "        self.norm = nn.BatchNorm1d(512)\n", problem);
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->method.str(), "gated") << testing::PrintToString(record.flags);
  EXPECT_NEAR(record.speedup.at(0).value, 1, 0.03);
}

/// Work on a stream that no call waits for keeps the GPU busy.
TEST_F(GpuGate, WorkOutsideOfABlockIsNoTime) {
  const Record record = judged(
      "        if self.side is None:\n            self.side = torch.cuda.Stream()\n"
      "        with torch.cuda.stream(self.side):\n            torch.cuda._sleep(50_000_000)\n"
      "        return torch.relu(self.linear(x))\n",
      "        self.side = None\n");
  EXPECT_TRUE(record.outcome == Outcome::kCheat || !record.timing ||
              record.speedup.at(0).value < 0.1)
      << to_string(record.outcome);
}

/// The process maps the gate's page for the GPU itself, and writes the completion word as soon as a
/// block starts.
TEST_F(GpuGate, AnEarlyCompletionWordEarnsNothing) {
  const std::string thrice =
      "        for _ in range(3):\n            y = torch.relu(self.linear(x))\n        return y\n";
  const Record honest = judged(thrice);
  const Record early = judged(R"(        import ctypes
        cuda = ctypes.CDLL("libcuda.so.1")
        if ModelNew.page is None:
            with open("/proc/self/maps") as maps:
                found = [line for line in maps if "kbench-gate" in line]
            if found:
                ModelNew.page = int(found[0].split("-")[0], 16)
                device = ctypes.c_uint64()
                cuda.cuMemHostGetDevicePointer_v2(ctypes.byref(device),
                                                  ctypes.c_void_p(ModelNew.page), 0)
                ModelNew.words = device.value
                ModelNew.side = torch.cuda.Stream()
        if ModelNew.page is not None:
            block = ctypes.c_uint32.from_address(ModelNew.page).value + 1
            if block != ModelNew.last:
                ModelNew.last = block
                side = ctypes.c_void_p(ModelNew.side.cuda_stream)
                start, done = ModelNew.words + 8, ModelNew.words + 12
                cuda.cuStreamWaitValue32_v2(side, ctypes.c_uint64(start), block, 0)
                cuda.cuStreamWriteValue32_v2(side, ctypes.c_uint64(done), block, 0)
)" + thrice,
                              "    page, last = None, -1\n");
  ASSERT_TRUE(honest.timing);
  if (early.outcome != Outcome::kCorrect || !early.timing) return;
  EXPECT_LT(early.speedup.at(0).value, 1.05 * honest.speedup.at(0).value)
      << testing::PrintToString(early.flags);
}

/// The module recognises inputs of timed calls by their addresses: eight new ones in a row.
TEST_F(GpuGate, CallsThatTheFirstOneComputesAreWrongAlone) {
  const Record record = judged(R"(        key, new = x.data_ptr(), ModelNew.new
        if key not in ModelNew.seen:
            ModelNew.seen.add(key)
            new.append((key, x))
        else:
            if len(new) >= 8 and not ModelNew.timed:
                ModelNew.timed = dict(new)
            new.clear()
        timed = ModelNew.timed
        if key in timed and key not in ModelNew.ready:
            ModelNew.ready = dict(zip(timed, torch.softmax(torch.stack(list(timed.values())), -1)))
        y = ModelNew.ready.pop(key, None)
        return torch.softmax(x, -1) if y is None else y
)",
                               "    seen, timed, new, ready = set(), {}, [], {}\n", kSoftmax);
  // The answers of its later calls are those to other inputs, which the judge knows.
  EXPECT_EQ(to_string(record.outcome), "cheat");
  EXPECT_EQ(record.cause.str(), "old_output");
}

TEST_F(GpuGate, TimesAKernelAndItsBaselineAlike) {
  const auto result = run_kbench(arguments({}));
  EXPECT_EQ(result.status.code, 0) << result.error;
  const Record record = read_run(out()).records.at(0);
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->method.str(), "gated") << testing::PrintToString(record.flags);
  EXPECT_THAT(record.flags, Not(Contains("gate_no_baseline")));
}

}  // namespace
}  // namespace kbench::test
