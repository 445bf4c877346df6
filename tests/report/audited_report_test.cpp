// SPDX-License-Identifier: MIT
// Reports with audits of their problems, with and without degenerate problems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/error.hpp"
#include "kbench/report.hpp"
#include "report/audited_samples.hpp"
#include "report/report_samples.hpp"

namespace kbench {
namespace {

using samples::audits;
using samples::gpu_audits;
using samples::value;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::ThrowsMessage;

TEST(Report, DegenerateProblemsAreInOneRowAndNotInTheOther) {
  const Report report = build_report(samples::gpu_run(), {}, gpu_audits());
  // The usual metrics, and those without ReLU.
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_1"), 0.5);
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_1", true), 1.0);
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "pass@1", true), 1.0);
  EXPECT_DOUBLE_EQ(value(report, "beta", -1, "fast_0"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(value(report, "beta", -1, "fast_0", true), 1.0);
  EXPECT_DOUBLE_EQ(value(report, "beta", 1, "fast_0", true), 1.0);
  ASSERT_THAT(report.degenerate, SizeIs(1));
  EXPECT_EQ(report.degenerate[0].problem, "level1/19_ReLU");
  EXPECT_THAT(report.degenerate[0].answers,
              testing::UnorderedElementsAre(Pair("input", testing::_), Pair("zeros", testing::_)));
  EXPECT_THAT(report.run_summary,
              Contains(Pair("audits",
                            "1 problem without an audit, counted as not degenerate: "
                            "level2/3_MatmulGelu")));
  EXPECT_THAT(build_report(samples::gpu_run(), {}).degenerate, IsEmpty());
  for (const SummaryRow& row : build_report(samples::gpu_run(), {}).summary)
    EXPECT_FALSE(row.without_degenerate);
}

TEST(Report, AModelWhoseProblemsAreAllDegenerateHasNoValues) {
  const Report report = build_report(
      samples::cpu_run(), {},
      audits({samples::degenerate("level1/19_ReLU"), samples::degenerate("level1/2_Softmax"),
              samples::degenerate("level2/3_MatmulGelu")}));
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_0"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_0", true), -1);
}

TEST(Report, AnAuditCountsForItsOwnCheckProblemAndSizes) {
  ProblemAudit other_sizes = samples::degenerate("level1/19_ReLU");
  other_sizes.problem_hash = "p1";
  ProblemAudit other_check = samples::degenerate("level1/2_Softmax");
  other_check.check.judge = kCompatJudge;
  ProblemAudit other_row = samples::degenerate("level2/3_MatmulGelu");
  other_row.check.precision = "fp16";
  ProblemAudit matching = samples::healthy("level1/2_Softmax");
  const Report report =
      build_report(samples::gpu_run(), {}, audits({other_sizes, other_check, other_row, matching}));
  EXPECT_THAT(report.degenerate, IsEmpty());
  EXPECT_THAT(report.run_summary,
              Contains(Pair("audits", AllOf(HasSubstr("2 problems audited by another check"),
                                            HasSubstr("level1/2_Softmax, level2/3_MatmulGelu"),
                                            HasSubstr("1 problem audited in another version"),
                                            HasSubstr("level1/19_ReLU")))));
  EXPECT_THAT(
      [&] {
        build_report(samples::gpu_run(), {}, audits({other_sizes, other_check}));
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("other sizes"), HasSubstr("level1/19_ReLU"))));
  EXPECT_THAT(
      [&] { build_report(samples::gpu_run(), {}, audits({other_check})); },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("no audit is of"), HasSubstr("kb_compat"))));
}

TEST(Report, AnAuditWithoutDistributionsIsOfAnotherCheckThanARunWithThem) {
  ProblemAudit audit = samples::degenerate("level1/19_ReLU");
  audit.check.distributions = false;
  EXPECT_THROW(build_report(samples::gpu_run(), {}, audits({audit})), UsageError);
  RunFile run = samples::gpu_run();
  run.headers[0].options["distributions"] = false;
  EXPECT_THAT(build_report(run, {}, audits({audit})).degenerate, SizeIs(1));
}

TEST(Report, ImportedVerdictsAreOfTheCheckThatKbCompatFollows) {
  RunFile run = samples::gpu_run();
  for (Record& record : run.records) record.judge = kKernelBenchJudge;
  ProblemAudit audit = samples::degenerate("level1/19_ReLU");
  audit.check.judge = kCompatJudge;
  const Report report = build_report(run, {}, audits({audit}));
  EXPECT_THAT(report.degenerate, SizeIs(1));
  EXPECT_DOUBLE_EQ(value(report, "beta", 1, "fast_0", true), 1.0);
}

TEST(Report, SeveralAuditsOfAProblemAddUp) {
  ProblemAudit one = samples::degenerate("level1/19_ReLU");
  one.answers["zeros"].passes = false;
  ProblemAudit two = samples::degenerate("level1/19_ReLU");
  two.options_hash = "o1";
  two.answers["input"].passes = false;
  const Report report = build_report(samples::gpu_run(), {}, audits({one, two}));
  ASSERT_THAT(report.degenerate, SizeIs(1));
  EXPECT_THAT(report.degenerate[0].answers, SizeIs(2));
}

TEST(Report, DegenerateProblemsOfTheRunAreInNoMetric) {
  const Report report = build_report(samples::degenerate_run(), {});
  // Of beta's samples for it, one is wrong and one has no verdict. gamma is on no manifest.
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_0"), 1.0);
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "pass@1"), 1.0);
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_1"), 0.0) << "it runs nothing";
  EXPECT_DOUBLE_EQ(value(report, "beta", -1, "fast_0"), 1.0);
  EXPECT_DOUBLE_EQ(value(report, "beta", 1, "pass@1"), 0.5);
  EXPECT_DOUBLE_EQ(value(report, "beta", -1, "correct"), 2.0 / 3);
  const auto excluded = std::ranges::find(report.excluded, true, &Exclusion::degenerate);
  ASSERT_NE(excluded, report.excluded.end());
  EXPECT_EQ(excluded->problem, "level1/19_ReLU");
  EXPECT_EQ(excluded->samples, 4);
  EXPECT_THAT(excluded->message, HasSubstr("constant, zeros pass"));
  EXPECT_THAT(
      report.run_summary,
      Contains(Pair("excluded", AllOf(HasSubstr("level1/19_ReLU"), HasSubstr("degenerate problem"),
                                      HasSubstr("--include-degenerate")))));
  EXPECT_THAT(report.failures, Contains(testing::Field(&FailureGroup::outcome, Outcome::kMismatch)))
      << "what went wrong there is told all the same";
}

TEST(Report, IncludeDegeneratePutsThemBackAndSaysSo) {
  ReportOptions options;
  options.include_degenerate = true;
  const Report report = build_report(samples::degenerate_run(), options);
  const Report plain = build_report(samples::gpu_run(), {});
  for (const char* metric : {"fast_0", "pass@1", "correct"})
    for (const char* model : {"alpha", "beta"})
      EXPECT_DOUBLE_EQ(value(report, model, -1, metric), value(plain, model, -1, metric));
  EXPECT_EQ(report.excluded.size(), plain.excluded.size());
  EXPECT_THAT(
      report.run_summary,
      Contains(Pair("degenerate", AllOf(HasSubstr("level1/19_ReLU"), HasSubstr("counted")))));
}

TEST(Report, AProblemIsDegenerateAtItsOwnSizesAndByItsOwnCheck) {
  RunFile run = samples::degenerate_run();
  for (Record& record : run.records)
    if (record.problem == "level1/19_ReLU" && record.model == "beta") record.problem_hash = "p1";
  const Report report = build_report(run, {});
  EXPECT_DOUBLE_EQ(value(report, "beta", -1, "fast_0"), 2.0 / 3) << "beta's is of other sizes";
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "pass@1"), 1.0);
}

}  // namespace
}  // namespace kbench
