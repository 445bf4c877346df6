// SPDX-License-Identifier: MIT
#include "worker/reference/trivial_answers.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "worker/device/device.hpp"
#include "worker/judge/audit.hpp"
#include "worker/reference/judging.hpp"

namespace kbench::worker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// The interpreter lives as long as the process.
void need_python() {
  static const bool kStarted = [] {
    start_python(KBENCH_TEST_PYTHON, "");
    return true;
  }();
  static_cast<void>(kStarted);
}

std::string problem(const std::string& forward, const std::string& inputs) {
  return "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x, n=None):\n"
         "        return " +
         forward + "\n\ndef get_inputs():\n    return [" + inputs + "]\n";
}

JudgeOptions options(const std::string& forward,
                     const std::string& inputs = "torch.rand(4, 6) + 1") {
  JudgeOptions asked;
  asked.key = "1_Test";
  asked.path = "1_Test.py";
  asked.source = problem(forward, inputs);
  asked.secret = "public:1";
  asked.trials = 3;
  return asked;
}

/// The names of the answers that a check does not catch.
std::vector<std::string> passing(JudgeOptions asked) {
  need_python();
  std::optional<JudgedProblem> opened(std::in_place, std::move(asked));
  std::vector<std::string> names;
  for (const auto& [name, answer] : audit(opened))
    if (answer.passes.value_or(false)) names.push_back(name);
  return names;
}

TEST(TrivialAnswers, EveryRowHasANameOfItsOwnAndIsDocumented) {
  std::ifstream in(KBENCH_SOURCE_DIR "/src/record/AUDIT_FILE.md");
  std::ostringstream documented;
  documented << in.rdbuf();
  std::set<std::string_view> names;
  for (const TrivialAnswer& row : trivial_answers()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_THAT(documented.str(), HasSubstr("`" + std::string(row.name) + "`"));
    EXPECT_NE(row.give, nullptr);
  }
}

TEST(TrivialAnswers, EveryRowGivesOutputsOfTheReferencesShapeAndType) {
  need_python();
  JudgedProblem opened(options("(x * 2, (x * 5).long(), x.sum())"));
  InputSet& set = opened.slot_set(0);
  const std::vector<at::Tensor> first = set.expected();
  const std::vector<at::Tensor> means{at::full({6}, 3.0), at::full({6}, 7.6, at::kDouble),
                                      at::full({}, 36.0)};
  const Known known{opened.host(), set, first, means, 3};
  std::map<std::string_view, std::vector<at::Tensor>> given;
  for (const TrivialAnswer& row : trivial_answers()) {
    const Given answer = row.give(known);
    if (std::holds_alternative<std::string>(answer)) {
      EXPECT_EQ(row.name, "input")
          << std::get<std::string>(answer);  // no input has the shape of the sum
      continue;
    }
    const auto& outputs = std::get<std::vector<at::Tensor>>(answer);
    ASSERT_EQ(outputs.size(), 3u) << row.name;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(outputs[i].sizes(), first[i].sizes()) << row.name;
      EXPECT_EQ(outputs[i].scalar_type(), first[i].scalar_type()) << row.name;
      EXPECT_TRUE(outputs[i].is_contiguous()) << row.name;
    }
    given[row.name] = outputs;
  }
  EXPECT_EQ(given.at("zeros")[0].abs().max().item<float>(), 0);
  EXPECT_EQ(given.at("ones")[1].min().item<std::int64_t>(), 1);
  EXPECT_EQ(given.at("constant")[0].max().item<float>(), 3);
  EXPECT_EQ(given.at("mean_of_another_draw")[1].max().item<std::int64_t>(), 8);  // 7.6, rounded
  EXPECT_TRUE(given.at("first_output")[0].equal(first[0]));
  const auto off = (given.at("half_precision")[0] - first[0]).abs().max().item<float>();
  EXPECT_GT(off, 1e-5);
  EXPECT_LT(off, 1e-2);
}

TEST(TrivialAnswers, TheInputIsTakenInTheOutputsShape) {
  need_python();
  JudgedProblem opened(options("x.reshape(3, 8)"));
  InputSet& set = opened.slot_set(0);
  const Known known{opened.host(), set, set.expected(), {}, 3};
  for (const TrivialAnswer& row : trivial_answers()) {
    if (row.name != "input") continue;
    const Given answer = row.give(known);
    EXPECT_TRUE(std::get<std::vector<at::Tensor>>(answer)[0].equal(set.expected()[0]));
  }
}

TEST(Audit, AHealthyProblemLetsNothingPass) {
  EXPECT_THAT(passing(options("torch.exp(x).cumsum(1)")), IsEmpty());
}

TEST(Audit, DistributionsCatchWhatTheDrawnInputsDoNot) {
  EXPECT_THAT(passing(options("torch.relu(x)")), IsEmpty());
  JudgeOptions without = options("torch.relu(x)");
  without.distributions = false;
  EXPECT_THAT(passing(without), UnorderedElementsAre("input"));
  // A distribution that is switched off is no part of the check, and it is reported as what would
  // catch the answer.
  JudgeOptions off = options("torch.relu(x)");
  for (const char* distribution : {"signed", "heavy_tails", "outliers", "shifted", "structured",
                                   "small_integers", "denormals", "infinity", "minus_infinity"})
    off.distributions_off[distribution] = "a test";
  EXPECT_THAT(passing(off), UnorderedElementsAre("input"));
  std::optional<JudgedProblem> opened(std::in_place, off);
  EXPECT_EQ(audit(opened).at("input").would_be_caught_by, "signed");
}

TEST(Audit, WhatIsAlwaysTheSameIsCaughtByNothing) {
  need_python();
  std::optional<JudgedProblem> opened(std::in_place, options("x * 0"));
  const auto answers = audit(opened);
  for (const char* name : {"zeros", "constant", "mean_of_another_draw", "first_output"}) {
    EXPECT_EQ(answers.at(name).passes, true) << name;
    EXPECT_EQ(answers.at(name).would_be_caught_by, "") << name;
    EXPECT_FALSE(answers.at(name).tolerance) << name;
  }
  EXPECT_EQ(answers.at("ones").caught_by, "trial 0");
}

TEST(Audit, TheFirstOutputIsCaughtByTheSecondTrialAndNoAnswerToOne) {
  need_python();
  JudgeOptions asked = options("torch.exp(x)");
  {
    std::optional<JudgedProblem> opened(std::in_place, asked);
    EXPECT_EQ(audit(opened).at("first_output").caught_by, "trial 1");
  }
  asked.trials = 1;
  std::optional<JudgedProblem> opened(std::in_place, asked);
  const auto answer = audit(opened).at("first_output");
  EXPECT_FALSE(answer.passes);
  EXPECT_THAT(answer.why, HasSubstr("one trial"));
}

TEST(Audit, ByKernelBenchsRulesKbenchsOwnCheckIsWhatWouldCatchIt) {
  need_python();
  JudgeOptions asked = options("torch.softmax(x, 1)", "torch.rand(4, 20000)");
  asked.precision = "kb_fp32";
  std::optional<JudgedProblem> opened(std::in_place, asked);
  const auto answers = audit(opened);
  EXPECT_EQ(answers.at("zeros").passes, true);
  EXPECT_EQ(answers.at("zeros").would_be_caught_by, "drawn");
  // The largest element is about e / 20000 / 1.72.
  EXPECT_NEAR(answers.at("zeros").tolerance.value(), 7e-5, 1e-5);
  EXPECT_EQ(answers.at("input").passes, false);
}

TEST(JudgeAnswer, TakesTheReferencesOrTheWiderOne) {
  const auto exact = at::tensor({100.0, -75.0, 1.0}, at::kDouble);
  const auto output = at::tensor({100.0, -78.0, 1.0}, at::kDouble);
  const ExpectedOutput expected_output =
      expected_outputs_of({output.to(at::kHalf)}, {exact}, {}).at(0);
  const std::vector<std::pair<at::Tensor, std::int64_t>> answers{
      {output, 0}, {exact, 0}, {exact * 1.1, 2}};
  for (const auto& [answer, wrong] : answers) {
    const std::vector<AnsweredTensor> given{{expected_output, answer.to(at::kHalf), true}};
    EXPECT_EQ(judge_answer("native", 0, given).wrong_elements, wrong);
  }
}

}  // namespace
}  // namespace kbench::worker
