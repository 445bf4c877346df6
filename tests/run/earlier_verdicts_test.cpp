// SPDX-License-Identifier: MIT
#include "run/eval/earlier_verdicts.hpp"

#include <gtest/gtest.h>

#include "record/run_log_fixture.hpp"

namespace kbench::run {
namespace {

class Earlier : public test::RunLog {
 protected:
  void write(const Record& record) const {
    RunWriter writer(path_, false);
    writer.write(test::header());
    writer.write(test::manifest(1));
    writer.write(record, {{"log", "a log"}});
  }

  /// The record of another model's candidate before it is judged.
  static Record blank(Record record) {
    record.model = "beta";
    record.sample = 7;
    record.candidate = "beta/other.cu";
    record.outcome = Outcome::kHarnessFault;
    record.findings.clear();
    return record;
  }
};

TEST_F(Earlier, EqualCodeHasItsWholeVerdictAndItsLog) {
  const Record judged = samples::observed();
  write(judged);
  const auto found = EarlierVerdicts(path_).find(blank(judged));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->record.outcome, Outcome::kCorrect);
  EXPECT_EQ(found->record.candidate, "beta/other.cu");
  EXPECT_EQ(found->record.sample, 7);
  EXPECT_EQ(found->record.reused_from, judged.candidate);
  EXPECT_EQ(found->record.findings.size(), 1u) << "read_run() leaves them in the file";
  EXPECT_EQ(found->details.at("log"), "a log");
}

TEST_F(Earlier, OtherJudgesOptionsAndDevicesSayNothing) {
  write(samples::correct());
  const EarlierVerdicts earlier(path_);
  for (const auto member : {&Record::options_hash, &Record::judge_hash, &Record::device,
                            &Record::torch, &Record::problem_hash, &Record::judge}) {
    Record other = blank(samples::correct());
    ASSERT_TRUE(earlier.find(other));
    other.*member = "another";
    EXPECT_FALSE(earlier.find(other));
  }
}

TEST_F(Earlier, WhatAResumedRunJudgesAgainIsNoVerdict) {
  const Record judged = samples::failed(Outcome::kLoadFailure, kMissingPackage, "no triton");
  write(judged);
  EXPECT_FALSE(EarlierVerdicts(path_).find(blank(judged)));
}

TEST_F(Earlier, AFileThatHasChangedSaysNothing) {
  write(samples::correct());
  const EarlierVerdicts earlier(path_);
  std::filesystem::resize_file(path_, 10);
  EXPECT_FALSE(earlier.find(blank(samples::correct())));
}

}  // namespace
}  // namespace kbench::run
