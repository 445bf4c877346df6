// SPDX-License-Identifier: MIT
// Candidates that are right at the usual sizes and wrong at others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_tree.hpp"
#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::HasSubstr;

const std::string kProblem = R"(import torch
import torch.nn as nn

ROWS = 8
COLS = 64


class Model(nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    if COLS == 13:
        raise ValueError("no such thing")
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
)";

/// A kernel that doubles elements. `body` decides how many of each 64.
std::string kernel(const std::string& body) {
  return "//@ dims x[R, C]\n//@ out y like x\n//@ twice<<<cdiv(R * C, 64), 64>>>(x, y, R * C)\n"
         "extern \"C\" __global__ void twice(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * 64 + threadIdx.x;\n" +
         body + "}\n";
}

class Sizes : public testing::Test {
 protected:
  void SetUp() override {
    folder.write("set/level1/1_Twice.py", kProblem);
    folder.write("set/level1/2_Twice.py", kProblem);
    folder.write("set/sizes.json",
                 R"({"level1/1_Twice": {"cpu": {"ROWS": 4}, "odd": {"ROWS": 3, "COLS": 37},
                                        "broken": {"COLS": 13}}})");
    folder.write("candidates/me/1_Twice/0.cu", kernel("  if (i < n) y[i] = 2 * x[i];\n"));
    folder.write("candidates/me/1_Twice/1.cu", kernel("  if (i < n / 64 * 64) y[i] = 2 * x[i];\n"));
    folder.write("candidates/me/2_Twice/0.cu", kernel("  if (i < n / 64 * 64) y[i] = 2 * x[i];\n"));
  }

  CommandResult eval(const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"eval",         (folder.path() / "set").string(),
                                       "--candidates", (folder.path() / "candidates").string(),
                                       "--device",     "cpu",
                                       "--out",        out().string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_kbench(arguments);
  }

  std::filesystem::path out() const { return folder.path() / "run.jsonl"; }

  std::map<std::string, Record> records() const {
    std::map<std::string, Record> found;
    for (const auto& [id, record] : records_by_candidate(out()))
      found.emplace(record.problem + std::to_string(record.sample), record);
    return found;
  }

  TempFolder folder;
};

TEST_F(Sizes, WhoIsWrongAtOthersIsWrong) {
  const auto result = eval({"--sizes", "odd"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto found = records();
  const Record& right = found.at("level1/1_Twice0");
  EXPECT_EQ(to_string(right.outcome), "correct") << right.message;
  EXPECT_TRUE(right.timing);
  // The record has trials and distributions of both sizes.
  const std::string lines = read_file(out(), 1 << 20).bytes;
  EXPECT_THAT(
      lines,
      HasSubstr(
          R"("distribution":"outliers","error_ratio":null,"first_wrong":null,"max_abs_error":0.0,)"
          R"("max_rel_error":0.0,"sizes":"odd","trial":)"));
  const Record& wired = found.at("level1/1_Twice1");
  EXPECT_EQ(to_string(wired.outcome), "mismatch");
  EXPECT_EQ(wired.cause, "not_written");
  EXPECT_THAT(wired.message, testing::StartsWith("at the sizes \"odd\": 47 elements are not "
                                                 "written by the call in trial 0 ("));
  EXPECT_FALSE(wired.timing);
  // A problem without these sizes has no further calls.
  EXPECT_EQ(to_string(found.at("level1/2_Twice0").outcome), "correct");
}

TEST_F(Sizes, AProblemThatFailsThereIsNobodysFault) {
  const auto result = eval({"--sizes", "broken,odd"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  EXPECT_EQ(to_string(records().at("level1/1_Twice0").outcome), "correct");
  EXPECT_EQ(to_string(records().at("level1/1_Twice1").outcome), "mismatch");
}

TEST_F(Sizes, NamesThatNoProblemHasAreRefused) {
  const auto result = eval({"--sizes", "od"});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(result.error, HasSubstr("choose from broken, cpu, odd"));
}

}  // namespace
}  // namespace kbench::test
