// SPDX-License-Identifier: MIT
#include "kbench/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/test_folder.hpp"
#include "kbench/error.hpp"
#include "report/approved.hpp"
#include "report/audited_samples.hpp"
#include "report/model/charts.hpp"
#include "report/report_samples.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

using samples::value;
using test::expect_approved;
using test::written;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::ThrowsMessage;

/// The text of a format for approval. Of the page, only the data that the report puts into it.
std::string own_text(const Report& report, std::string_view format) {
  std::string text = written(report, format);
  if (format != "html") return text;
  std::string parts;
  for (const char* begin : {"id=\"data\">\n", "id=\"details\">\n"}) {
    const std::size_t at = text.find(begin);
    if (at == std::string::npos) return "the page has no " + std::string(begin);
    const std::size_t from = at + std::string_view(begin).size();
    parts += text.substr(from, text.find("</script>", from) - from);
  }
  return parts;
}

TEST(ReportFormats, EveryRowWritesItsApprovedTextOfAGpusRun) {
  const Report report = build_report(samples::gpu_run(), {});
  for (const ReportFormat& format : report_formats()) {
    EXPECT_EQ(&report_format(format.name), &format);
    EXPECT_FALSE(format.extension.empty());
    if (format.write != nullptr)
      expect_approved(own_text(report, format.name), fmt::format("gpu_{}.txt", format.name));
  }
}

TEST(ReportFormats, EveryRowWritesItsApprovedTextOfARunWithoutAGpu) {
  const Report report = build_report(samples::cpu_run(), {.k = {1, 5}});
  for (const ReportFormat& format : report_formats()) {
    if (format.write != nullptr)
      expect_approved(own_text(report, format.name), fmt::format("cpu_{}.txt", format.name));
  }
}

TEST(ReportFormats, EveryRowWritesItsApprovedTextOfAnAuditedRun) {
  const Report report = build_report(samples::gpu_run(), {.p = {0, 1}}, samples::gpu_audits());
  for (const ReportFormat& format : report_formats()) {
    if (format.write != nullptr)
      expect_approved(own_text(report, format.name), fmt::format("audited_{}.txt", format.name));
  }
}

TEST(ReportFormats, EveryRowWritesItsApprovedTextOfADegenerateProblem) {
  const Report report = build_report(samples::degenerate_run(), {.p = {0, 1}});
  for (const ReportFormat& format : report_formats()) {
    if (format.write == nullptr) continue;
    const std::string text = own_text(report, format.name);
    expect_approved(text, fmt::format("degenerate_{}.txt", format.name));
    const bool has_failures_alone =
        format.name == "expect" || format.name == "codequality" || format.name == "sarif";
    if (!has_failures_alone) {
      EXPECT_THAT(text, HasSubstr("egenerate")) << format.name;
    }
  }
}

TEST(ReportFormats, UnknownOnesAreNamedWithTheKnown) {
  EXPECT_THAT([] { report_format("yaml"); },
              ThrowsMessage<UsageError>(HasSubstr("console, json, csv, markdown")));
  EXPECT_THAT([] { report_file("csv="); }, ThrowsMessage<UsageError>(HasSubstr("names no file")));
}

TEST(Report, CountsWhatIsPlannedAndWhatHasAVerdict) {
  const Report report = build_report(samples::gpu_run(), {});
  EXPECT_EQ(report.planned, 12);
  EXPECT_EQ(report.finished, 10);
  EXPECT_FALSE(report.complete);
  EXPECT_THAT(report.exclusions, SizeIs(2));
  EXPECT_THAT(report.warnings,
              ElementsAre(HasSubstr("1 fault of kbench itself"), HasSubstr("not ended"),
                          HasSubstr("line 7"),
                          "1 of 12 samples has no verdict yet, so no metric counts it"));
  EXPECT_THAT(report.run_summary, Contains(Pair("left out", "1 record not in the manifest")))
      << "it changes no number, so it is no warning";
  EXPECT_TRUE(build_report(samples::cpu_run(), {}).complete);
}

TEST(Report, MetricsComeFromTheManifestLessTheExclusions) {
  const Report report = build_report(samples::gpu_run(), {});
  // alpha: Softmax 1.9, ReLU 1.0 (not above 1). MatmulGelu is excluded.
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_0"), 1.0);
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_1"), 0.5);
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_0.8"), 1.0);
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "pass@1"), (1.0 + 0.5) / 2);
  EXPECT_NEAR(value(report, "alpha", -1, "geomean"), std::sqrt(1.9), 1e-12);
  // beta: Softmax 2.5 by a library, ReLU wrong, MatmulGelu 0.8. ReLU and MatmulGelu have one sample
  // each, because their other samples have no verdict.
  EXPECT_DOUBLE_EQ(value(report, "beta", -1, "fast_0"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(value(report, "beta", -1, "fast_2 own"), 0.0);
  EXPECT_DOUBLE_EQ(value(report, "beta", -1, "pass@1"), (0.5 + 0 + 1) / 3);
  EXPECT_DOUBLE_EQ(value(report, "beta", 1, "fast_1"), 0.5);
  EXPECT_DOUBLE_EQ(value(report, "beta", 2, "fast_0.5"), 1.0);
}

/// Two levels with three problems. The run stopped after the first problem.
RunFile interrupted_run() {
  RunFile run;
  run.headers = {samples::header("cuda")};
  for (const char* problem : {"level1/1_A", "level1/2_B", "level2/1_C"})
    for (int sample = 0; sample < 2; ++sample)
      run.manifest.push_back(samples::planned("alpha", problem, problem[5] - '0', sample));
  run.records = {samples::correct("alpha", "level1/1_A", 0, 2.0),
                 samples::correct("alpha", "level1/2_B", 1, 3.0)};
  return run;
}

TEST(Report, NoMetricCountsSamplesWithoutAVerdict) {
  const Report report = build_report(interrupted_run(), {.k = {1, 2}});
  ASSERT_THAT(report.summary, SizeIs(3));
  const SummaryRow& all = report.summary[0];
  EXPECT_EQ(all.samples, 2);
  EXPECT_EQ(all.correct, 2);
  EXPECT_EQ(all.no_verdict, 4);
  for (const char* metric : {"correct", "fast_0", "fast_1", "pass@1", "fast_1@1", "allclose_0.01"})
    EXPECT_DOUBLE_EQ(value(report, "alpha", 1, metric), 1) << metric;
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_2"), 0) << "B's second sample is not its first";
  EXPECT_NEAR(value(report, "alpha", -1, "geomean_all"), 2, 1e-12);
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "pass@2"), -1) << "each problem has one verdict";
  EXPECT_THAT(report.warnings,
              Contains("4 of 6 samples have no verdict yet, so no metric counts them"));
}

TEST(Report, ALevelWithoutAVerdictHasNoValues) {
  const Report report = build_report(interrupted_run(), {});
  const SummaryRow& level = report.summary[2];
  EXPECT_EQ(level.level, 2);
  EXPECT_EQ(level.samples, 0);
  for (const Estimate& estimate : level.estimates) {
    EXPECT_FALSE(estimate.value);
    EXPECT_EQ(estimate.why_none, "no verdict yet");
  }
  EXPECT_THAT(written(report, "markdown"), HasSubstr("| level 2 | 0 | – | – | – |"));
  const auto row = nlohmann::json::parse(written(report, "json"))["summary"][2];
  EXPECT_EQ(row["samples"], 0);
  EXPECT_EQ(row["no_verdict"], 2);
  EXPECT_TRUE(row["metrics"]["fast_0"]["value"].is_null());
}

TEST(Charts, FastPHasItsStepsAtTheSpeedups) {
  RunFile run = interrupted_run();
  run.records.push_back(samples::correct("alpha", "level1/2_B", 0, 1.05));
  run.records.push_back(samples::correct("alpha", "level2/1_C", 0, 5.0));
  const report::Charts charts = report::build_charts(build_report(run, {}));
  ASSERT_THAT(charts.fast_p, SizeIs(1));
  EXPECT_THAT(charts.fast_p[0].x, ElementsAre(0, 1.05, 2, 3));
  std::vector<double> values;
  for (const Estimate& estimate : charts.fast_p[0].values) values.push_back(*estimate.value);
  EXPECT_THAT(values, ElementsAre(1, 2.0 / 3, 1.0 / 3, 1.0 / 3));
}

TEST(Report, WhatDoesNotCompileIsCloseToNothing) {
  RunFile run = samples::gpu_run();
  for (Record& record : run.records)
    if (record.model == "beta")
      record = samples::failed(Outcome::kCompileFailure, "syntax_error", "…", "beta",
                               record.problem.c_str(), record.sample);
  const Report report = build_report(run, {});
  EXPECT_DOUBLE_EQ(value(report, "beta", -1, "allclose_0.01"), 0);
  // KernelBench's own verdicts have no allclose_at.
  for (Record& record : run.records) {
    record.judge = kKernelBenchJudge;
    record.allclose_at = {};
  }
  EXPECT_DOUBLE_EQ(value(build_report(run, {}), "alpha", -1, "allclose_0.01"), -1);
  // Right in the trials by allclose, but wrong when timed, or by another rule.
  RunFile near = samples::gpu_run();
  const double before = value(build_report(near, {}), "alpha", -1, "allclose_0.01");
  EXPECT_GT(before, 0);
  for (Record& record : near.records) {
    if (record.model.str() != "alpha" || record.outcome != Outcome::kCorrect) continue;
    record.allclose_at = 1e-6;
    record.outcome = record.sample == 0 ? Outcome::kCheat : Outcome::kMismatch;
    record.stage = Stage::kTiming;
  }
  EXPECT_LT(value(build_report(near, {}), "alpha", -1, "allclose_0.01"), before);
}

TEST(Report, AnotherBaselineHasItsOwnSpeedups) {
  RunFile run = samples::gpu_run();
  for (Record& record : run.records) {
    if (record.outcome == Outcome::kCorrect) {
      record.speedup.push_back({.baseline = "compile", .value = 0.9, .lo = 0.85, .hi = 0.95});
    }
  }
  EXPECT_DOUBLE_EQ(value(build_report(run, {.baseline = "compile"}), "alpha", -1, "fast_1"), 0.0);
  EXPECT_THAT(
      [&] { build_report(run, {.baseline = "triton"}); },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("\"triton\""), HasSubstr("eager, compile"))));
}

TEST(Report, ACorrectRunWithoutTimesHasNoSpeedsRatherThanZero) {
  RunFile run = samples::gpu_run();
  for (Record& record : run.records) record.speedup.clear();
  const Report report = build_report(run, {});
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_1"), -1);
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_0"), 1.0);
  EXPECT_THAT(written(report, "console"), HasSubstr("fast_2, geomean (no times were taken)"));
}

TEST(Report, OnTheCpuCorrectnessLeadsAndSpeedsHaveNoValue) {
  const Report report = build_report(samples::cpu_run(), {});
  EXPECT_TRUE(report.on_cpu);
  bool speeds = false;
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    EXPECT_FALSE(speeds && !report.metrics[i].needs_speedup()) << "those with values stand first";
    speeds = report.metrics[i].needs_speedup();
    EXPECT_EQ(report.summary[0].estimates[i].value.has_value(), !speeds);
    if (speeds) {
      EXPECT_EQ(report.summary[0].estimates[i].why_none, "no GPU");
    }
  }
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_0"), 1.0 / 3) << "unsupported counts as wrong";
  EXPECT_THAT(report.exclusions, IsEmpty());
  EXPECT_THAT(report.run_summary, Contains(Pair("excluded", "nothing")));
  EXPECT_THAT(report.run_summary, Contains(Pair("not judged", HasSubstr("alpha 1/3 and 1/2"))));
}

TEST(Report, UnsupportedOnAGpuCountsAgainstTheCandidate) {
  RunFile run = samples::cpu_run();
  for (Record& record : run.records) record.device = "NVIDIA H200";
  const Report report = build_report(run, {});
  EXPECT_THAT(report.exclusions, IsEmpty());
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_0"), 1.0 / 3);
}

TEST(Report, CpuAndGpuNeverShareATable) {
  RunFile run = samples::gpu_run();
  run.records[0].device = "cpu";
  EXPECT_THAT([&] { build_report(run, {}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("NVIDIA H200"), HasSubstr("cpu"))));
}

TEST(Report, PrecisionsHaveRowsOfTheirOwn) {
  RunFile run;
  run.manifest = {samples::planned("alpha", "level1/19_ReLU", 1, 0)};
  run.records = {samples::correct(), samples::mismatch()};
  run.records[1].precision = "fp16";
  const Report report = build_report(run, {});
  ASSERT_THAT(report.summary, SizeIs(2));
  EXPECT_EQ(report.planned, 2);
  EXPECT_NE(report.summary[0].precision, report.summary[1].precision);
  EXPECT_THAT(written(report, "console"),
              AllOf(HasSubstr("alpha, native"), HasSubstr("alpha, fp16")));
}

TEST(Report, JudgesHaveRowsOfTheirOwn) {
  RunFile run = samples::gpu_run();
  const std::vector<Record> own = run.records;
  for (Record record : own) {
    record.judge = kKernelBenchJudge;
    record.outcome = Outcome::kCorrect;  // by a more lenient judge, and read last
    run.records.push_back(record);
  }
  const Report report = build_report(run, {});
  EXPECT_EQ(report.planned, 24);
  EXPECT_DOUBLE_EQ(value(report, "beta", -1, "fast_0"), 2.0 / 3);  // kbench's row is first
  EXPECT_THAT(written(report, "console"),
              AllOf(HasSubstr("beta, by kbench"), HasSubstr("beta, by kernelbench"),
                    HasSubstr("judge=kernelbench")));
  EXPECT_THAT(report.run_summary, Contains(Pair("judge", HasSubstr("kernelbench 11 (imported"))));
  EXPECT_THAT(build_report(samples::gpu_run(), {}).run_summary,
              Not(Contains(Pair("judge", testing::_))));
}

TEST(Report, FailuresOfTwoJudgesAreNeverAddedUpAndTheirDifferencesTold) {
  RunFile run = samples::cpu_run();
  const std::vector<Record> own = run.records;
  for (Record record : own) {
    record.judge = kCompatJudge;
    if (record.outcome == Outcome::kMismatch) {
      record = samples::correct(record.model.c_str(), record.problem.c_str(), record.sample);
      record.judge = kCompatJudge;
      record.device = "cpu";
    } else if (record.outcome == Outcome::kCorrect) {
      record = samples::failed(Outcome::kProblemFailure, "reference_raised", "it raises",
                               record.model.c_str(), record.problem.c_str(), record.sample);
      record.judge = kCompatJudge;
      record.device = "cpu";
    }
    run.records.push_back(record);
  }
  const Report report = build_report(run, {});
  const auto row = std::ranges::find(report.summary, kCompatJudge, &SummaryRow::judge);
  ASSERT_NE(row, report.summary.end());
  EXPECT_EQ(row->samples, 3);  // KernelBench's denominators include a failed problem
  EXPECT_EQ(row->correct, 1);
  for (const char* format : {"console", "markdown"}) {
    std::string text = written(report, format);
    std::erase(text, '\\');  // Markdown escapes
    EXPECT_THAT(text, AllOf(HasSubstr("Verdicts that differ: 2 of 3"),
                            HasSubstr("kbench mismatch, values; kb_compat correct"),
                            HasSubstr("reference_raised (judged by kb_compat)")))
        << format;
  }
  EXPECT_THAT(written(report, "console"), HasSubstr("Failures: kbench 2 of 3, kb_compat 2 of 3"));
  EXPECT_THAT(report.run_summary, Contains(Pair("judge", HasSubstr("by KernelBench's rules"))));
}

TEST(Report, TimesByKernelBenchsRulesAreMeans) {
  RunFile run = samples::gpu_run();
  run.records[0].timing->method = "kb_events";
  run.records[0].timing->sides["candidate"].mean_ms = 0.0777;
  EXPECT_THAT(written(build_report(run, {}), "console"), HasSubstr("77.7 µs"));
}

TEST(Report, ATimeWithoutMedianIsShownByItsMean) {
  RunFile run = samples::gpu_run();
  run.records[0].timing->sides["candidate"].median_ms = std::nan("");
  run.records[0].timing->sides["candidate"].mean_ms = 0.0777;
  EXPECT_THAT(written(build_report(run, {}), "console"), HasSubstr("77.7 µs"));
}

TEST(Report, ChangedCodeReplacesTheEarlierVerdictAndAFaultDoesNot) {
  RunFile run;
  run.manifest = {samples::planned("alpha", "level1/19_ReLU", 1, 0)};
  run.records = {samples::mismatch(), samples::correct(), samples::correct()};
  run.records[1].candidate_hash = "c1";
  run.records[2] = samples::failed(Outcome::kHarnessFault, "judge_died", "…");
  run.records[2].candidate_hash = "c2";
  const Report report = build_report(run, {});
  EXPECT_DOUBLE_EQ(value(report, "alpha", -1, "fast_0"), 1.0);
  EXPECT_THAT(report.candidates, ElementsAre(1));
}

TEST(Report, FailuresAreGroupedByCauseTheMostFrequentFirst) {
  const Report report = build_report(samples::gpu_run(), {});
  ASSERT_THAT(report.failures, SizeIs(2));
  EXPECT_EQ(report.failures[0].outcome, Outcome::kMismatch);
  EXPECT_THAT(report.failures[0].records, SizeIs(2));
  EXPECT_EQ(report.failures[1].cause, "syntax_error");
}

TEST(Report, ParametersThatMeanNothingAreUsageErrors) {
  EXPECT_THROW(build_report(samples::gpu_run(), {.p = {-1}}), UsageError);
  EXPECT_THROW(build_report(samples::gpu_run(), {.k = {0}}), UsageError);
}

TEST(Report, AnEmptyRunIsIncomplete) {
  RunFile run;
  run.headers = {samples::header("cpu")};
  const Report report = build_report(run, {});
  EXPECT_FALSE(report.complete);
  EXPECT_TRUE(report.on_cpu);
  EXPECT_THAT(written(report, "console"), HasSubstr("INCOMPLETE 0/0"));
}

}  // namespace
}  // namespace kbench
