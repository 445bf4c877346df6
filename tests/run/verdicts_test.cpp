// SPDX-License-Identifier: MIT
#include "run/eval/verdicts.hpp"

#include <gtest/gtest.h>

#include "record/run_samples.hpp"

namespace kbench::run {
namespace {

Record blank(const Record& of, const std::string& id) {
  Record record;
  record.model = "beta";
  record.problem = of.problem;
  record.problem_hash = of.problem_hash;
  record.candidate_hash = of.candidate_hash;
  record.kind = of.kind;
  record.device = of.device;
  record.torch = of.torch;
  record.options_hash = of.options_hash;
  record.judge_hash = of.judge_hash;
  record.sample = 7;
  record.candidate = id;
  return record;
}

TEST(Verdicts, EqualCodeHasTheVerdictUnderItsOwnName) {
  Verdicts verdicts(10);
  Record judged = samples::observed();
  judged.message = "wrong (alpha/level1/19_ReLU/0.cu:3)";
  judged.findings[0].file = judged.candidate;
  judged.findings[0].message = "0.cu:7: reads";
  EXPECT_FALSE(verdicts.find(judged));
  verdicts.keep(judged);
  const auto found = verdicts.find(blank(judged, "beta/other.cu"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->model, "beta");
  EXPECT_EQ(found->sample, 7);
  EXPECT_EQ(found->candidate, "beta/other.cu");
  EXPECT_EQ(found->reused_from, judged.candidate);
  EXPECT_EQ(found->outcome, judged.outcome);
  EXPECT_EQ(found->speedup.size(), judged.speedup.size());
  ASSERT_TRUE(found->timing);
  EXPECT_FALSE(found->details);
  EXPECT_EQ(found->message, "wrong (beta/other.cu:3)");
  EXPECT_EQ(found->findings[0].file, "beta/other.cu");
  EXPECT_EQ(found->findings[0].message, "other.cu:7: reads");
}

TEST(Verdicts, AnIdThatIsNoFileIsLeftInMessages) {
  for (const auto& [from, to] : {std::pair("0", "1"), std::pair("line 1", "line 2"),
                                 std::pair("step-7/0", "step-7/1"), std::pair("1.0", "2.0")}) {
    Verdicts verdicts(10);
    Record judged = samples::correct();
    judged.candidate = from;
    judged.message = "line 10, column 0: trial 0; output 0 [15, 872]: 1.07 instead of 11.0";
    verdicts.keep(judged);
    EXPECT_EQ(verdicts.find(blank(judged, to))->message, judged.message) << from;
  }
}

TEST(Verdicts, WhateverElseDiffersIsJudged) {
  Verdicts verdicts(10);
  const Record judged = samples::correct();
  verdicts.keep(judged);
  Record other = blank(judged, "x.cu");
  ASSERT_TRUE(verdicts.find(other));
  other.kind = CandidateKind::kExtension;
  EXPECT_FALSE(verdicts.find(other));
  other = blank(judged, "x.cu");
  other.candidate_hash = "c1";
  EXPECT_FALSE(verdicts.find(other));
  other = blank(judged, "x.cu");
  other.problem = "level1/20_LeakyReLU";
  EXPECT_FALSE(verdicts.find(other));
  other = blank(judged, "x.cu");
  other.problem_hash = "p1";
  EXPECT_FALSE(verdicts.find(other));
}

TEST(Verdicts, AFaultOfTheHarnessIsNoVerdict) {
  Verdicts verdicts(10);
  const Record judged = samples::failed(Outcome::kHarnessFault, "judge_died", "it died");
  verdicts.keep(judged);
  EXPECT_FALSE(verdicts.find(blank(judged, "x.cu")));
}

TEST(Verdicts, TheOldestAreForgotten) {
  Verdicts verdicts(2);
  std::vector<Record> judged(3, samples::correct());
  for (std::size_t i = 0; i < judged.size(); ++i) {
    judged[i].candidate_hash = std::to_string(i);
    verdicts.keep(judged[i]);
    verdicts.keep(judged[i]);
  }
  EXPECT_FALSE(verdicts.find(judged[0]));
  EXPECT_TRUE(verdicts.find(judged[1]));
  EXPECT_TRUE(verdicts.find(judged[2]));
}

}  // namespace
}  // namespace kbench::run
