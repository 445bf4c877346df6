// SPDX-License-Identifier: MIT
// Models in training mode, which is the default, and in eval mode: the message on an answer that is
// right only in the other mode, and `--eval-mode`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kImports =
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n";
constexpr const char* kFlag = "right_in_eval_mode";

std::string problem_with(const std::string& layer) {
  return std::string(kImports) +
         "\n\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
         "        self.norm = " +
         layer +
         "\n\n    def forward(self, x):\n        return self.norm(x)\n\n\n"
         "def get_inputs():\n    return [torch.randn(64, 16)]\n\n\n"
         "def get_init_inputs():\n    return []\n";
}

std::string module_that(const std::string& answer) {
  return std::string(kImports) +
         "\n\nclass ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
         "        self.norm = nn.BatchNorm1d(16)\n\n    def forward(self, x):\n"
         "        norm = self.norm\n        return " +
         answer + "\n";
}

std::string normed(const std::string& mean, const std::string& var, const std::string& training) {
  return "F.batch_norm(x, " + mean + ", " + var + ", norm.weight, norm.bias, training=" + training +
         ")";
}

constexpr const char* kKernel = R"(//@ dims x[N, C]
//@ out y like x
//@ norm<<<cdiv(N * C, 128), 128>>>(x, norm.running_mean, norm.running_var, norm.weight, norm.bias, norm.eps, y, N * C, C)
__global__ void norm(const float* x, const float* mean, const float* var, const float* weight,
                     const float* bias, float eps, float* y, int n, int c) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const int j = i % c;
  if (i < n) y[i] = (x[i] - mean[j]) / sqrtf(var[j] + eps) * weight[j] + bias[j];
}
)";

/// Candidates for a problem with one BatchNorm, by name.
std::map<std::string, std::string> candidates() {
  return {{"right.py", module_that("norm(x)")},
          {"running.py", module_that(normed("norm.running_mean", "norm.running_var", "False"))},
          {"running.cu", kKernel},
          {"training_branch.py", module_that("norm(x) * (2 if self.training else 1)")},
          {"batch.py", module_that(normed("None", "None", "True"))},
          {"wrong.py", module_that("norm(x) * 3")},
          {"raises.py", module_that("norm(x) * 2 if self.training else x.nothing")}};
}

std::map<std::string, std::string> files() {
  std::map<std::string, std::string> files{
      {"set/level1/1_Norm.py", problem_with("nn.BatchNorm1d(16)")},
      {"set/level1/2_Drop.py", problem_with("nn.Dropout(0.5)")},
      {"candidates/me/2_Drop/drop.py",
       std::string(kImports) + "\n\nclass ModelNew(nn.Module):\n    def forward(self, x):\n"
                               "        return x.clone()\n"}};
  for (const auto& [name, source] : candidates()) files["candidates/me/1_Norm/" + name] = source;
  return files;
}

/// A run without options.
const JudgedRun& plain_run() {
  static const JudgedRun kRun(files());
  return kRun;
}
/// A run in eval mode.
const JudgedRun& eval_mode_run() {
  static const JudgedRun kRun(files(), {"--eval-mode", "--no-distributions"});
  return kRun;
}

TEST(EvalMode, AWrongAnswerThatIsRightInItIsSaidToBe) {
  const auto& records = plain_run().records();
  EXPECT_EQ(to_string(records.at("right.py").outcome), "correct") << records.at("right.py").message;
  EXPECT_EQ(to_string(records.at("batch.py").outcome), "correct") << records.at("batch.py").message;
  for (const char* name : {"running.py", "running.cu"}) {
    const Record& record = records.at(name);
    EXPECT_EQ(to_string(record.outcome), "mismatch") << name;
    EXPECT_EQ(record.cause, "wrong_values") << name;
    EXPECT_THAT(record.message, AllOf(HasSubstr("the candidate uses running statistics, but the "
                                                "reference is in training mode"),
                                      HasSubstr("--eval-mode")))
        << name;
    EXPECT_THAT(record.flags, Contains(kFlag)) << name;
  }
  const Record& branch = records.at("training_branch.py");
  EXPECT_EQ(to_string(branch.outcome), "mismatch");
  EXPECT_THAT(branch.message, HasSubstr("the answer is right if both models are in eval mode"));
  EXPECT_THAT(branch.flags, Contains(kFlag));
  for (const char* name : {"wrong.py", "raises.py"}) {
    const Record& record = records.at(name);
    EXPECT_EQ(to_string(record.outcome), "mismatch") << name;
    EXPECT_THAT(record.message, Not(HasSubstr("eval"))) << name;
    EXPECT_THAT(record.flags, Not(Contains(kFlag))) << name;
  }
}

TEST(EvalMode, JudgesBothSidesInIt) {
  const std::map<std::string, std::string> expected{
      {"right.py", "correct"},  {"running.py", "correct"}, {"running.cu", "correct"},
      {"batch.py", "mismatch"}, {"wrong.py", "mismatch"},  {"training_branch.py", "correct"}};
  for (const auto& [name, unused] : candidates()) {
    const Record& record = eval_mode_run().of(name);
    if (name == "raises.py") {
      EXPECT_NE(to_string(record.outcome), "correct");
    } else {
      EXPECT_EQ(to_string(record.outcome), expected.at(name)) << name << ": " << record.message;
    }
    EXPECT_EQ(record.judge, kEvalModeJudge) << name;
    EXPECT_THAT(record.flags, Not(Contains(kFlag))) << name;
  }
  const Record& running = eval_mode_run().of("running.py");
  ASSERT_TRUE(running.timing);
  EXPECT_TRUE(running.timing->sides.contains("eager"));
  const auto file = eval_mode_run().file();
  EXPECT_EQ(read_run(file).headers.at(0).options.value("eval_mode", false), true);

  const auto own_file = plain_run().file();
  const auto report = run_kbench({"report", own_file.string(), file.string()});
  EXPECT_EQ(report.status.code, 0) << report.error;
  EXPECT_THAT(report.output,
              AllOf(HasSubstr("me, by kbench_eval_mode"), HasSubstr("both models in eval mode"),
                    HasSubstr("Verdicts that differ")));
  const auto compared = run_kbench({"compare", own_file.string(), file.string()});
  EXPECT_EQ(compared.status.code, 0) << compared.error;
  EXPECT_THAT(compared.output, HasSubstr("judged by kbench"));
}

TEST(EvalMode, ARunThatGoesOnInTheOtherModeHasAllOfItBeforeIt) {
  const JudgedRun one({{"set/level1/1_Norm.py", problem_with("nn.BatchNorm1d(16)")},
                       {"candidates/me/1_Norm/right.py", candidates().at("right.py")}},
                      {"--no-distributions"});
  const auto& folder = one.folder().path();
  const auto both =
      run_kbench({"eval", (folder / "set").string(), "--candidates",
                  (folder / "candidates").string(), "--device", "cpu", "--out", one.file().string(),
                  "--resume", "--eval-mode", "--no-distributions"});
  EXPECT_EQ(both.status.code, 0) << both.error;
  EXPECT_EQ(read_run(one.file()).records.size(), 2u);
}

TEST(EvalMode, AReferenceWithDropoutIsNoRandomOneInIt) {
  EXPECT_EQ(plain_run().of("drop.py").cause, "random_reference");
  const Record& record = eval_mode_run().of("drop.py");
  EXPECT_EQ(to_string(record.outcome), "correct") << record.message;
}

TEST(EvalMode, IsForAuditsAndBaselinesToo) {
  const TempFolder folder;
  const auto set = folder.write("set/level1/1_Drop.py", problem_with("nn.Dropout(0.5)")).string();
  const auto audit = run_kbench({"audit", set, "--device", "cpu", "--eval-mode", "--out",
                                 (folder.path() / "audit.jsonl").string()});
  EXPECT_EQ(audit.status.code, 0) << audit.error;
  EXPECT_THAT(audit.output, HasSubstr("kbench_eval_mode"));
  const auto times = (folder.path() / "times.jsonl").string();
  const auto baseline =
      run_kbench({"baseline", set, "--device", "cpu", "--eval-mode", "--out", times});
  EXPECT_EQ(baseline.status.code, 0) << baseline.error << baseline.output;
  EXPECT_EQ(read_run(times).records.at(0).judge, kEvalModeJudge);
  EXPECT_EQ(to_string(read_run(times).records.at(0).outcome), "correct");
}

TEST(EvalMode, IsNoneOfKernelBenchsRules) {
  const auto result =
      run_kbench({"eval", "level1", "--device", "cpu", "--kb-compat", "--eval-mode"});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(result.error, HasSubstr("--eval-mode cannot be combined with --kb-compat"));
}

}  // namespace
}  // namespace kbench::test
