// SPDX-License-Identifier: MIT
// Problems on which a constant is right, and candidates that return one: `eval` names these
// problems and does not count them.
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

/// Degenerate problems: softmax over one element, x − mean(x) of one element, and min(x, 0)
/// followed by a clamp to 0..1.
const std::map<std::string, std::pair<std::string, std::string>> kDegenerate{
    {"1_SoftmaxOfOne", {problem_of("torch.softmax(x, 1)", "torch.randn(64, 1)"), "1.0f"}},
    {"2_LessItsMean", {problem_of("x - x.mean(1, keepdim=True)", "torch.randn(64, 1)"), "0.0f"}},
    {"3_BelowAndAbove",
     {problem_of("torch.clamp(torch.min(x, torch.tensor(0.0, device=x.device)), 0, 1)",
                 "torch.randn(64, 32)"),
      "0.0f"}}};
/// Similar problems that are not degenerate.
const std::map<std::string, std::string> kHealthy{
    {"4_Softmax", problem_of("torch.softmax(x, 1)", "torch.randn(64, 32)")},
    {"5_LessItsMean", problem_of("x - x.mean(1, keepdim=True)", "torch.randn(64, 32)")},
    {"6_BelowAndAbove",
     problem_of("torch.clamp(torch.clamp(x, max=0.5), 0, 1)", "torch.randn(64, 32)")}};
/// Their honest modules, which return a buffer of their own after they have written it.
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

using Files = std::map<std::string, std::string>;

std::string candidate(const std::string& place) { return "candidates/me/" + place; }
std::string problem(const std::string& name) { return "set/level1/" + name + ".py"; }

/// Adds a problem and its candidates, whose names begin with the problem's name.
void add_degenerate(Files& files, const std::string& name) {
  const auto& [source, value] = kDegenerate.at(name);
  files[problem(name)] = source;
  files[candidate(name + "/" + name + "_module.py")] = constant_module(value);
  files[candidate(name + "/" + name + "_extension.cu")] = constant_extension(value);
  files[candidate(name + "/" + name + "_kernel.cu")] = constant_kernel(value);
}

/// A run without options.
const JudgedRun& plain_run() {
  static const JudgedRun kRun = [] {
    Files files;
    for (const auto& [name, unused] : kDegenerate) add_degenerate(files, name);
    for (const auto& [name, source] : kHealthy) {
      files[problem(name)] = source;
      files[candidate(name + "/" + name + "_right.py")] = writing_module(kAnswers.at(name));
      files[candidate(name + "/" + name + "_wrong.py")] = constant_module("0.0f");
    }
    // Fails to compile, before the judge has opened the problem and checked for trivial answers.
    files[candidate("1_SoftmaxOfOne/broken.cu")] = "//@ out y like x\n//@ none<<<1, 1>>>(y)\n";
    return JudgedRun(files);
  }();
  return kRun;
}

CommandResult report(const std::vector<std::string>& options = {}) {
  std::vector<std::string> words{"report", plain_run().file().string()};
  words.insert(words.end(), options.begin(), options.end());
  return run_kbench(words);
}

TEST(Degenerate, WhatATrivialAnswerWasAskedIsAskedOfCandidatesToo) {
  // Only a distribution with signs catches the answer `input`, so the check uses several
  // distributions.
  const JudgedRun judged(
      Files{{problem("1_Relu"), problem_of("torch.relu(x)", "torch.rand(64, 32)")},
            {candidate("1_Relu/0.py"), writing_module("torch.relu(x)")}});
  RunFile run = read_run(judged.file());
  const RunDetails details(run);
  for (Record& read : run.records) {
    const Record record = details.whole(read);  // with all results
    EXPECT_EQ(record.outcome, Outcome::kCorrect) << record.message;
    EXPECT_THAT(record.degenerate_problem, Optional(IsEmpty()));
    EXPECT_TRUE(std::ranges::any_of(record.correctness, [](const TrialResult& result) {
      return result.distribution == "few_changed";
    }));
  }
}

TEST(Degenerate, RecordsReportsAndGatesSaySo) {
  EXPECT_EQ(plain_run().records().size(), 3 * kDegenerate.size() + 2 * kHealthy.size() + 1);
  for (const auto& [file, record] : plain_run().records()) {
    SCOPED_TRACE(file + ": " + record.message);
    if (file == "broken.cu") {
      EXPECT_EQ(record.outcome, Outcome::kCompileFailure);
      continue;
    }
    if (file.ends_with("_right.py") || file.ends_with("_wrong.py")) {
      EXPECT_THAT(record.degenerate_problem, Optional(IsEmpty()));
      EXPECT_EQ(record.outcome,
                file.ends_with("_right.py") ? Outcome::kCorrect : Outcome::kMismatch);
      EXPECT_THAT(record.flags, Not(Contains("no_kernels")));
      continue;
    }
    EXPECT_EQ(to_string(record.outcome), "correct");
    EXPECT_THAT(record.degenerate_problem, Optional(Contains("constant")));
    // Only calls of modules and extensions are traced.
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
}

TEST(Degenerate, WhatIsKnownOfAProblemNeedNotBeAsked) {
  plain_run();
  const JudgedRun again(
      Files{{problem("1_SoftmaxOfOne"), kDegenerate.at("1_SoftmaxOfOne").first},
            {candidate("1_SoftmaxOfOne/broken.cu"), "//@ out y like x\n//@ none<<<1, 1>>>(y)\n"}});
  EXPECT_EQ(again.of("broken.cu").outcome, Outcome::kCompileFailure);
  EXPECT_THAT(again.of("broken.cu").degenerate_problem, Optional(Contains("constant")));
}

TEST(Degenerate, TheWholeCheckIsAskedAlsoWhereTheRunLeavesPartsOut) {
  const JudgedRun run({{problem("1_SoftmaxOfOne"), kDegenerate.at("1_SoftmaxOfOne").first},
                       {candidate("1_SoftmaxOfOne/constant.py"), constant_module("1.0f")},
                       {problem("7_Relu"), problem_of("x.relu()", "torch.rand(64, 32)")},
                       {candidate("7_Relu/input.py"), writing_module("x")}},
                      {"--no-distributions", "--trials", "1"});
  EXPECT_EQ(run.of("input.py").outcome, Outcome::kCorrect) << "it was not asked";
  EXPECT_THAT(run.of("input.py").degenerate_problem, Optional(IsEmpty()));
  EXPECT_THAT(run.of("constant.py").degenerate_problem, Optional(Contains("constant")));
}

TEST(Degenerate, WhatWasFoundInOneModeIsAskedAgainInTheOther) {
  const std::string answer = "x * 0.0 if self.training else x + 1";
  const Files files{{problem("1_InTraining"), problem_of(answer, "torch.randn(64, 32)")},
                    {candidate("1_InTraining/0.py"), writing_module(answer)}};
  // Without eval mode once more: the cache then has the results of both modes.
  for (const bool eval_mode : {false, true, false}) {
    std::vector<std::string> options{"--timing", "none"};
    if (eval_mode) options.emplace_back("--eval-mode");
    const auto found = JudgedRun(files, options).of("0.py").degenerate_problem;
    ASSERT_TRUE(found);
    EXPECT_EQ(std::ranges::count(*found, "zeros"), eval_mode ? 0 : 1);
    if (eval_mode) {
      EXPECT_THAT(*found, IsEmpty());
    }
  }
}

TEST(Degenerate, EvalTakesTheOptionAndKernelBenchsRulesDoNotAsk) {
  EXPECT_EQ(plain_run().result().status.code, 0) << plain_run().result().error;
  EXPECT_THAT(plain_run().result().output, HasSubstr("--include-degenerate counts"));
  const auto& folder = plain_run().folder().path();
  const auto counted =
      run_kbench({"eval", (folder / "set").string(), "--candidates",
                  (folder / "candidates").string(), "--device", "cpu", "--out",
                  plain_run().file().string(), "--include-degenerate", "--resume"});
  EXPECT_EQ(counted.status.code, 0) << counted.error;
  EXPECT_THAT(counted.output, HasSubstr("counted by --include-degenerate"));
  const JudgedRun compat({{problem("1_SoftmaxOfOne"), kDegenerate.at("1_SoftmaxOfOne").first},
                          {candidate("1_SoftmaxOfOne/0.py"), constant_module("1.0f")}},
                         {"--kb-compat"});
  EXPECT_EQ(compat.of("0.py").degenerate_problem, std::nullopt);
}

}  // namespace
}  // namespace kbench::test
