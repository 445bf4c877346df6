// SPDX-License-Identifier: MIT
// Reports with the audits of their problems: with and without those that are degenerate.
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
  // As above, and without ReLU.
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
  EXPECT_THAT(report.warnings, Contains("1 problem without an audit, counted as not degenerate: "
                                        "level2/3_MatmulGelu"));
  EXPECT_THAT(build_report(samples::gpu_run(), {}).degenerate, IsEmpty());
  for (const SummaryRow& row : build_report(samples::gpu_run(), {}).summary)
    EXPECT_FALSE(row.without_degenerate);
}

TEST(Report, AModelWhoseProblemsAreAllDegenerateHasNoValues) {
  const Report report = build_report(
      samples::cpu_run(), {},
      audits({samples::degenerate("level1/19_ReLU"), samples::degenerate("level1/2_Softmax")}));
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_0"), 0.5);
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
  EXPECT_THAT(report.warnings,
              AllOf(Contains(AllOf(HasSubstr("2 problems audited by another check"),
                                   HasSubstr("level1/2_Softmax, level2/3_MatmulGelu"))),
                    Contains(AllOf(HasSubstr("1 problem audited in another version"),
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

TEST(Report, AnAuditWithoutFamiliesIsOfAnotherCheckThanARunWithThem) {
  ProblemAudit audit = samples::degenerate("level1/19_ReLU");
  audit.check.families = false;
  EXPECT_THROW(build_report(samples::gpu_run(), {}, audits({audit})), UsageError);
  RunFile run = samples::gpu_run();
  run.headers[0].options["families"] = false;
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

}  // namespace
}  // namespace kbench
