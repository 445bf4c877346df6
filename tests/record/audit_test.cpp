// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "kbench/run_file.hpp"
#include "record/audit_samples.hpp"
#include "record/run_log_fixture.hpp"

namespace kbench {
namespace {

using nlohmann::json;
using test::contents;
using test::put;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

TEST(Tolerance, IsTheLargestOfOneDigitBelowAnError) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const auto& [error, expected] : {std::pair{9.67e-5, 9e-5},
                                        {1.001e-4, 1e-4},
                                        {0.37, 0.3},
                                        {1.0, 0.9},
                                        {1e-3, 9e-4},
                                        {17.2, 10.0},
                                        {2e-7, 1e-7},
                                        {3.0000001e-5, 3e-5},
                                        {1e-300, 9e-301},
                                        {0.95, 0.9}})
    EXPECT_EQ(tolerance_below(error), expected) << error;
  // What is exactly right no tolerance catches; what is infinitely wrong every one does.
  for (const double error : {0.0, -1.0, kInf, std::nan("")}) EXPECT_FALSE(tolerance_below(error));
}

TEST(Tolerance, IsBelowItsErrorAndNoTenthFurther) {
  for (double error = 1e-12; error < 1e6; error *= 1.0372) {
    const double tolerance = tolerance_below(error).value();
    EXPECT_LT(tolerance, error);
    EXPECT_GT(2.0001 * tolerance, error) << error;
  }
}

class AuditLog : public testing::Test {
 protected:
  void write(const std::vector<ProblemAudit>& audits) const {
    AuditWriter writer(path_, false);
    writer.write(test::header());
    for (const ProblemAudit& audit : audits) writer.write(audit);
    writer.write_end("the secret", true);
  }
  AuditFile read() const { return read_audits({path_}); }

  test::ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "audit.jsonl";
};

TEST_F(AuditLog, WhatIsWrittenIsRead) {
  const std::vector<ProblemAudit> written{samples::degenerate("level1/19_ReLU"),
                                          samples::healthy("level1/2_Softmax"),
                                          samples::failed_audit("level1/5_Broken")};
  write(written);
  const AuditFile file = read();
  EXPECT_THAT(file.bad_lines, IsEmpty());
  EXPECT_FALSE(file.torn);
  ASSERT_THAT(file.headers, SizeIs(1));
  EXPECT_EQ(file.headers[0].run_id, test::header().run_id);
  ASSERT_THAT(file.audits, SizeIs(3));
  for (std::size_t i = 0; i < written.size(); ++i)
    EXPECT_EQ(to_json(file.audits[i]), to_json(written[i]));
  EXPECT_THAT(file.audits[0].passing(), ElementsAre("input", "zeros"));
  EXPECT_EQ(to_json(file.audits[0]).at("degenerate"), true);
  EXPECT_EQ(to_json(file.audits[1]).at("degenerate"), false);
  EXPECT_EQ(to_json(file.audits[2]).at("degenerate"), json());
}

TEST_F(AuditLog, CutOffAtEveryByteItIsReadAsFarAsItGoes) {
  write({samples::degenerate("level1/19_ReLU"), samples::healthy("level1/2_Softmax")});
  const std::string whole = contents(path_);
  const std::size_t first = whole.find('\n');
  for (std::size_t bytes = first; bytes < whole.size(); ++bytes) {
    put(path_, whole.substr(0, bytes));
    const AuditFile file = read();
    const auto lines = static_cast<std::size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes), '\n'));
    // A line that lacks nothing but its end is whole.
    const bool ended = whole[bytes] == '\n';
    EXPECT_THAT(file.bad_lines, IsEmpty());
    EXPECT_EQ(file.audits.size(), std::min<std::size_t>(lines + (ended ? 1 : 0), 3) - 1);
    EXPECT_EQ(file.torn, !ended && whole[bytes - 1] != '\n');
  }
}

TEST_F(AuditLog, LinesThatCannotBeReadAreNamed) {
  write({samples::healthy("level1/2_Softmax")});
  put(path_, "{\"type\": \"audit\"}\n[]\nnonsense\n", true);
  const AuditFile file = read();
  EXPECT_THAT(file.audits, SizeIs(1));
  EXPECT_THAT(file.bad_lines,
              ElementsAre(AllOf(HasSubstr("line 4"), HasSubstr("\"problem\"")), HasSubstr("line 5"),
                          AllOf(HasSubstr("line 6"), HasSubstr("JSON"))));
}

TEST_F(AuditLog, TheLastAuditOfAProblemThatIsNoFaultCounts) {
  ProblemAudit fault = samples::healthy("level1/2_Softmax");
  fault.outcome = AuditOutcome::kHarnessFault;
  fault.answers.clear();
  ProblemAudit later = samples::degenerate("level1/2_Softmax");
  write({fault, later, fault});
  const AuditFile file = read();
  ASSERT_THAT(file.audits, SizeIs(1));
  EXPECT_EQ(file.audits[0].outcome, AuditOutcome::kDegenerate);
}

TEST_F(AuditLog, WhatIsNoAuditFileIsRefused) {
  const auto message = [&] { read(); };
  EXPECT_THAT(message, ThrowsMessage<UsageError>(HasSubstr("cannot read")));
  put(path_, "{\"type\": \"run\"}\n");
  EXPECT_THAT(message, ThrowsMessage<UsageError>(HasSubstr("is not an audit file")));
  put(path_, "{\"type\": \"audit_run\", \"schema\": \"3.0\"}\n");
  EXPECT_THAT(message, ThrowsMessage<UsageError>(HasSubstr("has schema 3.0")));
  EXPECT_THAT([&] { read_audits({folder_.path()}); },
              ThrowsMessage<UsageError>(HasSubstr("it is a folder")));
}

TEST_F(AuditLog, IsGoneOnWithAfterATornLineAndNeverOverwritten) {
  write({samples::healthy("level1/2_Softmax")});
  EXPECT_THAT([&] { AuditWriter(path_, false); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("exists"), HasSubstr("--resume"))));
  put(path_, "{\"type\": \"aud", true);
  {
    AuditWriter writer(path_, true);
    writer.write(test::header());
    writer.write(samples::degenerate("level1/19_ReLU"));
    EXPECT_THAT([&] { AuditWriter(path_, true); },
                ThrowsMessage<UsageError>(HasSubstr("another run is writing")));
  }
  const AuditFile file = read();
  EXPECT_THAT(file.audits, SizeIs(2));
  EXPECT_THAT(file.headers, SizeIs(2));
  EXPECT_THAT(file.bad_lines, ElementsAre(HasSubstr("line 4")));
  put(path_, "hello\n");
  EXPECT_THAT([&] { AuditWriter(path_, true); },
              ThrowsMessage<UsageError>(HasSubstr("is not an audit file")));
}

TEST_F(AuditLog, TheDocumentedExamplesAreCompleteAndRoundTrip) {
  const auto examples = test::documented_lines("AUDIT_FILE.md");
  ASSERT_THAT(examples, SizeIs(3));
  EXPECT_EQ(to_json(problem_audit_from_json(examples.at("audit"))), examples.at("audit"));
  std::string file;
  for (const char* type : {"audit_run", "audit", "end"}) file += examples.at(type).dump() + "\n";
  put(path_, file);
  const AuditFile read_back = read();
  EXPECT_THAT(read_back.bad_lines, IsEmpty());
  ASSERT_THAT(read_back.headers, SizeIs(1));
  EXPECT_EQ(read_back.headers[0].options, examples.at("audit_run").at("options"));
  // What follows from errors is as the example has it.
  for (const std::string& name : read_back.audits.at(0).passing()) {
    const AuditAnswer& answer = read_back.audits.at(0).answers.at(name);
    EXPECT_EQ(answer.tolerance, tolerance_below(*answer.allclose_at)) << name;
  }
}

}  // namespace
}  // namespace kbench
