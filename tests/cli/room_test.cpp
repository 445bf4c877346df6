// SPDX-License-Identifier: MIT
// Memory that is too short for judging because of a candidate. That never is an advantage.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// A problem whose get_inputs() runs out of memory if `condition` holds for the number of its
/// calls.
std::string problem_without_room(const std::string& condition) {
  return fmt::format(R"(import torch

N = 64
calls = 0


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def get_inputs():
    global calls
    calls += 1
    if {}:
        raise MemoryError("no more")
    return [torch.rand(N, N)]


def get_init_inputs():
    return []
)",
                     condition);
}

TEST(Room, WhoLeavesNoneIsNotJudgedByLess) {
  const TempFolder folder;
  // Calls of get_inputs(): one to describe the problem, in another process; then one for each
  // trial, and one for each distribution.
  const std::map<std::string, std::string> conditions{
      {"1_Never", "calls == 1"}, {"2_Trials", "calls == 3"}, {"3_Distribution", "calls == 8"}};
  for (const auto& [name, condition] : conditions) {
    folder.write("set/level1/" + name + ".py", problem_without_room(condition));
    folder.write("candidates/me/" + name + ".py",
                 "import torch\n\n\nclass ModelNew(torch.nn.Module):\n"
                 "    def forward(self, x):\n        return torch.add(x, 1)\n");
  }
  const auto result = run_kbench({"eval", (folder.path() / "set").string(), "--candidates",
                                  (folder.path() / "candidates").string(), "--device", "cpu",
                                  "--out", (folder.path() / "run.jsonl").string()});
  ASSERT_EQ(result.status.code, 0) << result.error;
  std::map<std::string, Record> records;
  for (const Record& record : read_run(folder.path() / "run.jsonl").records)
    records[record.problem.str()] = record;
  ASSERT_EQ(records.size(), conditions.size());
  EXPECT_EQ(records.at("level1/1_Never").outcome, Outcome::kProblemFailure);
  const Record& trials = records.at("level1/2_Trials");
  EXPECT_EQ(trials.outcome, Outcome::kOutOfMemory);
  EXPECT_EQ(trials.cause, "no_room_to_judge");
  EXPECT_THAT(trials.message,
              HasSubstr("the reference does not fit into memory next to the candidate"));
  const Record& distribution = records.at("level1/3_Distribution");
  EXPECT_EQ(distribution.outcome, Outcome::kCorrect) << distribution.message;
  EXPECT_THAT(distribution.flags, Contains("distribution_unchecked"));
}

}  // namespace
}  // namespace kbench::test
