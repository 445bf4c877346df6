// SPDX-License-Identifier: MIT
// Finds problems on which trivial answers pass the whole check, as a run does.
#include "worker/judge/degenerate.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/reference/trivial_answers.hpp"

namespace kbench::worker {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::Optional;

/// The interpreter lives as long as the process.
void need_python() {
  static const bool kStarted = [] {
    start_python(KBENCH_TEST_PYTHON, "");
    return true;
  }();
  static_cast<void>(kStarted);
}

JudgeOptions options(const std::string& forward, const std::string& input = "torch.rand(6, 8)") {
  JudgeOptions asked;
  asked.key = "1_Test";
  asked.path = "1_Test.py";
  asked.source =
      "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
      "        return " +
      forward + "\n\ndef get_inputs():\n    return [" + input + "]\n";
  asked.secret = "public:1";
  asked.trials = 3;
  return asked;
}

std::optional<std::vector<std::string>> passing(JudgeOptions asked) {
  need_python();
  JudgedProblem problem(std::move(asked));
  return passing_trivial_answers(problem);
}

TEST(Degenerate, AConstantPassesWhereTheAnswerHangsOnNothing) {
  const char* one_column = "torch.randn(6, 1)";
  EXPECT_THAT(passing(options("torch.softmax(x, 1)", one_column)),
              Optional(IsSupersetOf({"constant", "first_output", "ones"})));
  EXPECT_THAT(passing(options("x - x.mean(1, keepdim=True)", one_column)),
              Optional(IsSupersetOf({"constant", "first_output", "zeros"})));
  EXPECT_THAT(passing(options("x.clamp(max=0.0).clamp(0.0, 1.0)", "torch.randn(6, 8)")),
              Optional(IsSupersetOf({"constant", "zeros"})));
  EXPECT_THAT(passing(options("x > x + 1")), Optional(Contains("zeros")));
}

TEST(Degenerate, SoDoesTheInputWhereNothingIsAsked) {
  EXPECT_THAT(passing(options("x.reshape(8, 6)")), Optional(ElementsAre("input")));
  EXPECT_THAT(passing(options("x + 0")), Optional(ElementsAre("input")));
}

TEST(Degenerate, WhatTheDistributionsCatchIsHealthyAlsoWhereTheRunLeavesThemOut) {
  // Drawn inputs are never negative, so only another distribution catches the answer `input`.
  for (const char* forward : {"torch.relu(x)", "x.clamp(min=0.0).clamp(max=2.0)"}) {
    for (const bool distributions : {true, false}) {
      JudgeOptions asked = options(forward);
      asked.distributions = distributions;
      EXPECT_THAT(passing(asked), Optional(IsEmpty())) << forward;
    }
  }
}

TEST(Degenerate, HealthyProblemsAreNotCalledSo) {
  for (const char* forward :
       {"torch.softmax(x, 1)", "x - x.mean(1, keepdim=True)", "x.sum()", "x.argmax(1)", "x * 1e-6",
        "(x.reshape(8, 6), x * 2)", "torch.zeros_like(x) + x.mean() * 1e-3"})
    EXPECT_THAT(passing(options(forward)), Optional(IsEmpty())) << forward;
}

TEST(Degenerate, OneTrialAloneMakesNoConstantOfItsAnswer) {
  JudgeOptions asked = options("x.sum()");
  asked.trials = 1;
  EXPECT_THAT(passing(asked), Optional(IsEmpty()));
}

TEST(Degenerate, WhatACallWritesToItsInputIsNoAnswers) {
  EXPECT_THAT(passing(options("x.mul_(2) * 0")), Optional(IsEmpty()));
}

TEST(Degenerate, AnswersThatComputeAreNotAsked) {
  const auto found = passing(options("x * 0"));
  EXPECT_THAT(found, Optional(Not(Contains("half_precision"))));
  for (const TrivialAnswer& row : trivial_answers()) {
    if (row.made_of == MadeOf::kReference) {
      EXPECT_EQ(row.name, "half_precision");
    }
  }
}

TEST(Degenerate, ByKernelBenchsRulesNobodyAsks) {
  JudgeOptions asked = options("x * 0");
  asked.precision = "kb_fp32";
  EXPECT_EQ(passing(asked), std::nullopt);
}

TEST(Degenerate, TheProblemsTrialsAreAsBefore) {
  need_python();
  for (const char* forward : {"torch.softmax(x, 1)", "torch.relu(x)", "x * 0"}) {
    JudgedProblem problem(options(forward));
    const at::Tensor before = problem.trial_set(0).inputs().front().source_view.clone();
    const at::Tensor answer = problem.trial_set(0).expected().front().clone();
    passing_trivial_answers(problem);
    EXPECT_TRUE(problem.trial_set(0).inputs().front().source_view.equal(before)) << forward;
    EXPECT_TRUE(problem.trial_set(0).expected().front().equal(answer)) << forward;
    EXPECT_EQ(problem.first_changed_source(), "") << forward;
  }
}

}  // namespace
}  // namespace kbench::worker
