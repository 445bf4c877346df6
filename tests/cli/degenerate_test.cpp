// SPDX-License-Identifier: MIT
// Problems on which a constant is right, and candidates that return one: `eval` says so, and counts
// neither.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/kbench_process.hpp"
#include "record/run_details.hpp"

namespace kbench::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;

/// Softmax over one element, x − mean(x) of one element, min(x, 0) and then a clamp to 0..1.
const std::map<std::string, std::pair<std::string, std::string>> kDegenerate{
    {"1_SoftmaxOfOne", {problem_of("torch.softmax(x, 1)", "torch.randn(64, 1)"), "1.0f"}},
    {"2_LessItsMean", {problem_of("x - x.mean(1, keepdim=True)", "torch.randn(64, 1)"), "0.0f"}},
    {"3_BelowAndAbove",
     {problem_of("torch.clamp(torch.min(x, torch.tensor(0.0, device=x.device)), 0, 1)",
                 "torch.randn(64, 32)"),
      "0.0f"}}};
/// The same questions where they are some.
const std::map<std::string, std::string> kHealthy{
    {"4_Softmax", problem_of("torch.softmax(x, 1)", "torch.randn(64, 32)")},
    {"5_LessItsMean", problem_of("x - x.mean(1, keepdim=True)", "torch.randn(64, 32)")},
    {"6_BelowAndAbove",
     problem_of("torch.clamp(torch.clamp(x, max=0.5), 0, 1)", "torch.randn(64, 32)")}};
/// Honest modules for these, which hand out a buffer of their own after they have written it.
const std::map<std::string, std::string> kAnswers{{"4_Softmax", "torch.softmax(x, 1)"},
                                                  {"5_LessItsMean", "x - x.mean(1, keepdim=True)"},
                                                  {"6_BelowAndAbove", "torch.clamp(x, 0, 0.5)"}};

std::string constant_module(const std::string& value) {
  return "import torch\n\nclass ModelNew(torch.nn.Module):\n    kept = None\n\n"
         "    def forward(self, x):\n        if self.kept is None:\n"
         "            self.kept = torch.full_like(x, " +
         value.substr(0, value.size() - 1) + ")\n        return self.kept\n";
}

std::string constant_extension(const std::string& value) {
  return "#include <torch/extension.h>\ntorch::Tensor forward(torch::Tensor x) {\n"
         "  static torch::Tensor kept = torch::full_like(x, " +
         value + ");\n  return kept;\n}\n";
}

std::string constant_kernel(const std::string& value) {
  return "//@ dims x[N, D]\n//@ out y like x\n//@ fill<<<cdiv(N * D, 256), 256>>>(y, N * D)\n"
         "__global__ void fill(float* y, int n) {\n"
         "  const int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n) y[i] = " +
         value + ";\n}\n";
}

std::string writing_module(const std::string& answer) {
  return "import torch\n\nclass ModelNew(torch.nn.Module):\n    kept = None\n\n"
         "    def forward(self, x):\n        if self.kept is None:\n"
         "            self.kept = torch.empty_like(x)\n        self.kept.copy_(" +
         answer + ")\n        return self.kept\n";
}

class Degenerate : public testing::Test {
 protected:
  Degenerate() {
    for (const auto& [name, problem] : kDegenerate) {
      const auto& [source, value] = problem;
      folder_.write("set/level1/" + name + ".py", source);
      folder_.write("candidates/me/" + name + "/0.py", constant_module(value));
      folder_.write("candidates/me/" + name + "/1.cu", constant_extension(value));
      folder_.write("candidates/me/" + name + "/2.cu", constant_kernel(value));
    }
    for (const auto& [name, source] : kHealthy) {
      folder_.write("set/level1/" + name + ".py", source);
      folder_.write("candidates/me/" + name + "/0.py", writing_module(kAnswers.at(name)));
      folder_.write("candidates/me/" + name + "/1.py", constant_module("0.0f"));
    }
  }
  /// By "problem/sample".
  std::map<std::string, Record> judged(const std::vector<std::string>& options = {}) const {
    std::map<std::string, Record> records;
    for (const auto& [id, record] : judge_folder(folder_, options))
      records.emplace(record.problem.str() + "/" + std::to_string(record.sample), record);
    return records;
  }
  CommandResult report(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words{"report", (folder_.path() / "run.jsonl").string()};
    words.insert(words.end(), options.begin(), options.end());
    return run_kbench(words);
  }

  TempFolder folder_;
};

TEST_F(Degenerate, WhatATrivialAnswerWasAskedIsAskedOfCandidatesToo) {
  // The input passes until it is asked with signs, so several distributions are asked before.
  TempFolder folder;
  folder.write("set/level1/1_Relu.py", problem_of("torch.relu(x)", "torch.rand(64, 32)"));
  folder.write("candidates/me/1_Relu/0.py", writing_module("torch.relu(x)"));
  judge_folder(folder, {});
  RunFile run = read_run(folder.path() / "run.jsonl");
  const RunDetails details(run);
  for (Record& read : run.records) {
    const Record record = details.whole(read);  // with all of its results
    EXPECT_EQ(record.outcome, Outcome::kCorrect) << record.message;
    EXPECT_THAT(record.degenerate_problem, Optional(IsEmpty()));
    EXPECT_TRUE(std::ranges::any_of(record.correctness, [](const TrialResult& result) {
      return result.family == "few_changed";
    }));
  }
}

TEST_F(Degenerate, RecordsReportsAndGatesSaySo) {
  // A failure that comes before the problem is opened, and nothing is known of it yet.
  folder_.write("candidates/me/1_SoftmaxOfOne/3.cu", "//@ out y like x\n//@ none<<<1, 1>>>(y)\n");
  const auto records = judged();
  for (const auto& [id, record] : records) {
    SCOPED_TRACE(id + ": " + record.message);
    const bool healthy = kHealthy.contains(id.substr(7, id.size() - 9));
    if (healthy) {
      EXPECT_THAT(record.degenerate_problem, Optional(IsEmpty()));
      EXPECT_EQ(record.outcome, record.sample == 0 ? Outcome::kCorrect : Outcome::kMismatch);
      EXPECT_THAT(record.flags, Not(Contains("no_kernels")));
      continue;
    }
    if (record.outcome == Outcome::kCompileFailure) continue;
    EXPECT_EQ(to_string(record.outcome), "correct");
    EXPECT_THAT(record.degenerate_problem, Optional(Contains("constant")));
    // What a call runs is seen of modules and extensions.
    EXPECT_EQ(record.kernel_class, record.kind == CandidateKind::kKernel ? "own" : "none");
    EXPECT_EQ(std::ranges::find(record.flags, "no_kernels") != record.flags.end(),
              record.kind != CandidateKind::kKernel);
  }
  const auto plain = report();
  EXPECT_THAT(plain.output,
              AllOf(testing::ContainsRegex("me +3 +3/6 "), HasSubstr("degenerate problem"),
                    HasSubstr("level1/1_SoftmaxOfOne"), HasSubstr("--include-degenerate counts")));
  const auto all = report({"--include-degenerate"});
  EXPECT_THAT(all.output, AllOf(testing::ContainsRegex("me +6 +12/16 "),
                                HasSubstr("counted by --include-degenerate")));
  EXPECT_EQ(report({"--fail-under", "correct=0.6"}).status.code, 3);
  EXPECT_EQ(report({"--fail-under", "correct=0.6", "--include-degenerate"}).status.code, 0);

  // Now it is known, and the next run need not ask.
  for (const auto& [id, record] : judged())
    if (record.outcome == Outcome::kCompileFailure) {
      EXPECT_THAT(record.degenerate_problem, Optional(Contains("constant")));
    }
}

TEST_F(Degenerate, TheWholeCheckIsAskedAlsoWhereTheRunLeavesPartsOut) {
  folder_.write("set/level1/7_Relu.py", problem_of("x.relu()", "torch.rand(64, 32)"));
  folder_.write("candidates/me/7_Relu/0.py", writing_module("x"));
  const auto records = judged({"--no-families", "--trials", "1"});
  EXPECT_EQ(records.at("level1/7_Relu/0").outcome, Outcome::kCorrect) << "it was not asked";
  EXPECT_THAT(records.at("level1/7_Relu/0").degenerate_problem, Optional(IsEmpty()));
  EXPECT_THAT(records.at("level1/1_SoftmaxOfOne/0").degenerate_problem,
              Optional(Contains("constant")));
}

TEST_F(Degenerate, WhatWasFoundInOneModeIsAskedAgainInTheOther) {
  TempFolder folder;
  const std::string answer = "x * 0.0 if self.training else x + 1";
  folder.write("set/level1/1_InTraining.py", problem_of(answer, "torch.randn(64, 32)"));
  folder.write("candidates/me/1_InTraining/0.py", writing_module(answer));
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT(judge_folder(folder, {"--timing", "none"}).begin()->second.degenerate_problem,
                Optional(Contains("zeros")));
    EXPECT_THAT(judge_folder(folder, {"--timing", "none", "--eval-mode"})
                    .begin()
                    ->second.degenerate_problem,
                Optional(IsEmpty()));
  }
}

TEST_F(Degenerate, EvalTakesTheOptionAndKernelBenchsRulesDoNotAsk) {
  for (const bool included : {false, true}) {
    std::vector<std::string> words{"eval",         (folder_.path() / "set").string(),
                                   "--candidates", (folder_.path() / "candidates").string(),
                                   "--device",     "cpu",
                                   "--out",        (folder_.path() / "some.jsonl").string()};
    if (included) words.insert(words.end(), {"--include-degenerate", "--resume"});
    const auto result = run_kbench(words);
    EXPECT_EQ(result.status.code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr(included ? "counted by --include-degenerate"
                                                  : "--include-degenerate counts"));
  }
  std::filesystem::remove_all(folder_.path() / "candidates");
  folder_.write("candidates/me/1_SoftmaxOfOne/0.py", constant_module("1.0f"));
  const auto records = judged({"--kb-compat"});
  EXPECT_EQ(records.at("level1/1_SoftmaxOfOne/0").degenerate_problem, std::nullopt);
}

}  // namespace
}  // namespace kbench::test
