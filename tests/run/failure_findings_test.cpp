// SPDX-License-Identifier: MIT
#include "run/schedule/failure_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kbench::run {
namespace {

using nlohmann::json;
using testing::ElementsAre;

Finding finding(const char* kind, int line) {
  Finding finding;
  finding.kind = kind;
  finding.kernel = "sum";
  finding.file = "0.cu";
  finding.line = line;
  finding.message = "a sentence";
  return finding;
}

/// What the judge says of a call with all checks that ended, or of one that failed.
JudgeAnswer answer_with(const std::vector<Finding>& findings, bool ended = true) {
  JudgeAnswer answer;
  answer.findings = json::array();
  for (const Finding& one : findings) {
    answer.findings.push_back(to_json(one));
    if (!is_fault(one)) answer.record.flags.emplace_back(one.kind.str());
  }
  if (!ended) answer.record.outcome = Outcome::kTimeout;
  return answer;
}

Record wrong_record() {
  Record record;
  record.outcome = Outcome::kMismatch;
  record.stage = Stage::kCorrectness;
  record.message = "2 elements are wrong";
  return record;
}

std::vector<std::string> kinds_of(const Record& record) {
  std::vector<std::string> kinds;
  for (const Finding& one : record.findings) kinds.emplace_back(one.kind.str());
  return kinds;
}

TEST(FailureFindings, ARaceIsNamedAndListed) {
  Record record = wrong_record();
  json details = json::object();
  take_findings(answer_with({finding("shared_race", 12)}), record, details);
  EXPECT_EQ(record.message,
            "2 elements are wrong; in sum threads race for shared memory (0.cu:12)");
  EXPECT_EQ(record.checked_again, "found");
  EXPECT_EQ(record.findings_count, 1u);
  EXPECT_THAT(record.flags, ElementsAre("shared_race"));
  EXPECT_EQ(details.at("findings").size(), 1u);
  EXPECT_EQ(record.outcome, Outcome::kMismatch);
}

TEST(FailureFindings, TheRecordSaysThatThereAreNone) {
  Record record = wrong_record();
  json details = json::object();
  take_findings(answer_with({}), record, details);
  EXPECT_EQ(record.message, "2 elements are wrong");
  EXPECT_EQ(record.checked_again, "nothing_found");
  EXPECT_FALSE(details.contains("findings"));
}

TEST(FailureFindings, ACallThatDidNotEndSaysNothing) {
  Record record = wrong_record();
  json details = json::object();
  take_findings(answer_with({finding(kFaultFinding, 3)}, false), record, details);
  EXPECT_EQ(record.checked_again, "unfinished");
  EXPECT_TRUE(record.findings.empty()) << "its fault is not the cause of the outcome";
}

TEST(FailureFindings, AFaultExplainsACrash) {
  Record record = wrong_record();
  record.outcome = Outcome::kCrash;
  json details{{"findings", {to_json(finding(kFaultFinding, 4))}}};
  take_findings(answer_with({finding(kFaultFinding, 4)}, false), record, details);
  EXPECT_EQ(record.checked_again, "found");
  EXPECT_EQ(record.findings_count, 1u);
  EXPECT_EQ(record.message, "2 elements are wrong") << "it names the fault already";
}

TEST(FailureFindings, AddsToThoseThatAreKnown) {
  Record record = wrong_record();
  record.flags = {"uninitialized_read"};
  json details{{"findings",
                {to_json(finding("uninitialized_read", 3)), to_json(finding(kFaultFinding, 4))}}};
  take_findings(answer_with({finding("uninitialized_read", 3), finding("global_race", 5)}), record,
                details);
  EXPECT_THAT(kinds_of(record), ElementsAre(kFaultFinding, "global_race", "uninitialized_read"));
  EXPECT_THAT(record.flags, ElementsAre("uninitialized_read", "global_race"));
  EXPECT_EQ(details.at("findings").size(), 3u);
}

TEST(FailureFindings, AreLookedForWhereARaceMayBeTheCause) {
  EvalOptions options;
  Record record = wrong_record();
  EXPECT_TRUE(may_have_findings(record, options));
  for (const Outcome outcome : {Outcome::kNondeterministic, Outcome::kCrash}) {
    record.outcome = outcome;
    EXPECT_TRUE(may_have_findings(record, options));
  }
  record.stage = Stage::kLoad;
  EXPECT_FALSE(may_have_findings(record, options));
  record.stage = Stage::kCorrectness;
  record.outcome = Outcome::kCheat;
  EXPECT_FALSE(may_have_findings(record, options));
  record.outcome = Outcome::kMismatch;
  options.sanitize = "all";
  EXPECT_FALSE(may_have_findings(record, options)) << "there was such a call";
}

}  // namespace
}  // namespace kbench::run
