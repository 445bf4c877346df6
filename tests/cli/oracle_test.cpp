// SPDX-License-Identifier: MIT
// The expected output: the reference in double precision, if it can compute that.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

/// Writes a problem and a right candidate.
void write_set(const TempFolder& folder, const std::string& name, const std::string& forward) {
  const std::string imports = "import torch\nimport torch.nn as nn\n\n\n";
  const std::string rest = "(nn.Module):\n    def forward(self, x):\n" + forward;
  folder.write("set/level1/" + name + ".py",
               imports + "class Model" + rest +
                   "\n\ndef get_inputs():\n    return [torch.randn(64, 16)]\n\n\n"
                   "def get_init_inputs():\n    return []\n");
  folder.write("candidates/me/" + name + "/0.py", imports + "class ModelNew" + rest);
}

const std::string kSum = "        y = (x * x).sum(1)\n";
const std::string kIsWhole = "((x == x.round()).all() & (x.abs().max() > 2))\n";

/// Ends of forward() for a problem that sums squares. With integral inputs the sums are about
/// 80,000.
const std::map<std::string, std::string> kSums{
    {"half", "        return (x.half().float() ** 2).sum(1) * 1.002\n"},
    {"tenth_too_much", "        return (x * x).sum(1) * 1.1\n"},
    {"off_by_one", kSum + "        return y + 1.0 * " + kIsWhole},
    {"off_by_little", kSum + "        return y + 0.1 * " + kIsWhole}};

/// The record of one candidate. All are judged in one run.
const Record& judged(const std::string& problem, const std::string& candidate) {
  static const auto kRecords = [] {
    const TempFolder folder;
    write_set(folder, "1_Doubles", "        return torch.tanh(x).sum(1)\n");
    write_set(folder, "2_Singles",
              "        assert x.dtype is torch.float32\n        return torch.tanh(x).sum(1)\n");
    write_set(folder, "4_Integers", "        return x.argmax(1)\n");
    // Double precision keeps the digits that single precision loses.
    write_set(folder, "5_Another", "        return (x + 1e8) - 1e8\n");
    folder.write("set/level1/6_Squares.py", problem_of("(x * x).sum(1)", "torch.randn(4, 20000)"));
    for (const auto& [file, forward] : kSums)
      folder.write("candidates/me/6_Squares/" + file + ".py",
                   "import torch\nimport torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n"
                   "    def forward(self, x):\n" +
                       forward);
    std::map<std::pair<std::string, std::string>, Record> records;
    for (auto& [id, record] : judge_folder(folder, {"--full-sizes", "--trials", "1"})) {
      const std::filesystem::path path(id);
      records[{path.parent_path().filename(), path.stem()}] = record;
    }
    return records;
  }();
  return kRecords.at({problem, candidate});
}

TEST(Oracle, TheRecordSaysWhereThereIsNone) {
  const std::map<std::string, std::string> expected{{"1_Doubles", ""},
                                                    {"2_Singles", "no_oracle"},
                                                    {"4_Integers", ""},
                                                    {"5_Another", "no_oracle"}};
  for (const auto& [problem, flags] : expected) {
    const Record record = judged(problem, "0");
    EXPECT_EQ(to_string(record.outcome), "correct") << problem << ": " << record.message;
    EXPECT_EQ(fmt::format("{}", fmt::join(record.flags, " ")), flags) << problem;
  }
}

const Record& judged_sum(const std::string& name) { return judged("6_Squares", name); }

TEST(Oracle, AnErrorThatAWiderToleranceTakesIsSaidByItsSize) {
  const Record half = judged_sum("half");
  EXPECT_EQ(to_string(half.outcome), "mismatch");
  EXPECT_EQ(half.cause, "beyond_tolerance");
  EXPECT_EQ(half.correct_at, Interned("tf32"));
  EXPECT_THAT(half.message, testing::MatchesRegex(
                                "4 elements are beyond the tolerance in trial 0 .*: off by up to "
                                "[0-9.]+e-[34], tolerance 1e-4; a tolerance of 1e-[23] would "
                                "take it.*"));
  EXPECT_THAT(half.message, testing::Not(testing::HasSubstr("tf32")));
}

TEST(Oracle, AnErrorThatNoToleranceTakesIsSaidByItsSizeToo) {
  const Record off = judged_sum("tenth_too_much");
  EXPECT_EQ(off.cause, "wrong_values");
  EXPECT_THAT(off.message, testing::MatchesRegex("4 elements are wrong in trial 0 .*: off by up to "
                                                 "[0-9.]+e-2, tolerance 1e-4.*"));
  EXPECT_THAT(off.message, testing::Not(testing::HasSubstr("would take it")));
}

TEST(Oracle, WhoIsOffByOneWhereNothingIsRoundedIsWrong) {
  const Record off = judged_sum("off_by_one");
  EXPECT_EQ(to_string(off.outcome), "mismatch");
  EXPECT_EQ(off.cause, "wrong_values");
  EXPECT_EQ(off.correct_at, std::nullopt);
  EXPECT_THAT(off.message, testing::HasSubstr("small_integers"));
  const Record near = judged_sum("off_by_little");
  EXPECT_EQ(to_string(near.outcome), "correct") << near.message;
}

TEST(Oracle, WhereTheReferenceOverflowsTheTrueAnswerIsRightAsWell) {
  const TempFolder folder;
  const std::string head = "        x = x * x + 300\n        return ";
  write_set(folder, "1_Root", head + "(x * x).sqrt()\n");  // the squares exceed half precision
  const std::string imports = "import torch\nimport torch.nn as nn\n\n\n";
  const std::string rest = "class ModelNew(nn.Module):\n    def forward(self, x):\n";
  folder.write("candidates/me/1_Root/1.py", imports + rest + head + "x\n");
  folder.write("candidates/me/1_Root/2.py",
               imports + rest + head + "torch.full_like(x, float('-inf'))\n");
  folder.write("candidates/me/1_Root/3.py", imports + rest + head + "x * 2\n");
  std::map<int, std::string> outcomes;
  for (const auto& [id, record] : judge_folder(folder, {"--precision", "fp16"}))
    outcomes[record.sample] = to_string(record.outcome);
  EXPECT_THAT(outcomes,
              testing::ElementsAre(testing::Pair(0, "correct"), testing::Pair(1, "correct"),
                                   testing::Pair(2, "mismatch"), testing::Pair(3, "mismatch")));
}

}  // namespace
}  // namespace kbench::test
