// SPDX-License-Identifier: MIT
// Inputs of timed calls are new to the candidate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

constexpr const char* kProblem = R"(import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(16)

    def forward(self, x, shift):
        return torch.relu(self.norm(x)) + shift


def get_inputs():
    return [torch.randn(64, 16), torch.randint(0, 9, (16,))]


def get_init_inputs():
    return []
)";

/// Right, except on inputs that it has had before its last call.
const std::string kForgetful = std::string(R"(SEEN = {}
LAST = [None]
)") + kProblem +
                               R"(

class ModelNew(Model):
    def forward(self, x, shift):
        key = (tuple(x.flatten().tolist()), tuple(shift.tolist()))
        met = key in SEEN and LAST[0] != key
        SEEN[key] = True
        LAST[0] = key
        y = super().forward(x, shift)
        return torch.zeros_like(y) if met else y
)";

TEST(TimedInputs, AreNewInEachTimedCall) {
  const TempFolder folder;
  folder.write("set/level1/1_Norm.py", kProblem);
  // The second candidate gets the same open problem after the first one.
  folder.write("candidates/me/1_Norm/0.py", kForgetful);
  folder.write("candidates/me/1_Norm/1.py", kForgetful + "# again\n");
  for (const std::string trials : {"1", "3"}) {
    const auto out = folder.path() / ("run" + trials + ".jsonl");
    const auto result = run_kbench({"eval", (folder.path() / "set").string(), "--candidates",
                                    (folder.path() / "candidates").string(), "--device", "cpu",
                                    "--trials", trials, "--out", out.string()});
    ASSERT_EQ(result.status.code, 0) << result.error;
    const auto records = records_by_candidate(out);
    ASSERT_EQ(records.size(), 2u);
    for (const auto& [name, record] : records) {
      EXPECT_EQ(to_string(record.outcome), "correct") << name << ": " << record.message;
      ASSERT_TRUE(record.timing);
      EXPECT_EQ(record.timing->sides.at("candidate").count, 4);
    }
  }
}

TEST(TimedInputs, ItsAnswersToThemAreLookedAt) {
  const TempFolder folder;
  folder.write("set/level1/1_Norm.py", kProblem);
  // The number of calls before the timed ones is no secret.
  folder.write("candidates/me/1_Norm/0.py", std::string(kProblem) + R"(

CALLS = [0]


class ModelNew(Model):
    def forward(self, x, shift):
        CALLS[0] += 1
        y = super().forward(x, shift)
        return y if CALLS[0] <= 6 else y * 0
)");
  const auto out = folder.path() / "run.jsonl";
  const auto result = run_kbench({"eval", (folder.path() / "set").string(), "--candidates",
                                  (folder.path() / "candidates").string(), "--device", "cpu",
                                  "--trials", "1", "--no-distributions", "--out", out.string()});
  ASSERT_EQ(result.status.code, 0) << result.error;
  const Record record = records_by_candidate(out).begin()->second;
  EXPECT_EQ(to_string(record.outcome), "mismatch");
  EXPECT_EQ(record.cause, "timed_output");
}

}  // namespace
}  // namespace kbench::test
