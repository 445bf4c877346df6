// SPDX-License-Identifier: MIT
// The first block of every format: the run, its device, excluded problems, and the models.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kbench/report.hpp"
#include "report/approved.hpp"
#include "report/model/leaderboard.hpp"
#include "report/report_samples.hpp"

namespace kbench {
namespace {

using test::written;
using testing::_;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

TEST(FirstBlock, WhatIsListedChangesNothingOfWhatWasRun) {
  const Report whole = build_report(samples::gpu_run(), {});
  for (const char* condition : {"outcome=mismatch", "outcome!=correct", "trust=own_clock"}) {
    ReportOptions options;
    options.select.add(condition);
    const Report report = build_report(samples::gpu_run(), options);
    EXPECT_LT(report.candidates.size(), whole.candidates.size());
    std::vector<std::pair<std::string, std::string>> run_summary = report.run_summary;
    ASSERT_EQ(run_summary[0].first, "selected");
    run_summary.erase(run_summary.begin());
    EXPECT_EQ(run_summary, whole.run_summary) << condition;
    EXPECT_EQ(report.run_settings.trust, whole.run_settings.trust);
    EXPECT_THAT(report.excluded, SizeIs(1));
  }
}

TEST(FirstBlock, CandidatesThatWereLeftOutAreCountedAndNamed) {
  RunFile run = samples::cpu_run();
  EXPECT_THAT(build_report(run, {}).run_summary, Not(Contains(Pair("left out", _))));
  run.headers[0].left_out = {40, {"runs/alpha/7.py"}};
  run.headers.push_back(run.headers[0]);  // --resume
  EXPECT_THAT(build_report(run, {}).run_summary,
              Contains(Pair("left out",
                            "40 candidates belong to no problem of the run: runs/alpha/7.py, "
                            "39 more")));
}

TEST(FirstBlock, ManyExclusionsAreGroupedByCauseAndCut) {
  RunFile run;
  run.headers = {samples::header("cuda")};
  for (int i = 0; i < 300; ++i) {
    const std::string problem = fmt::format("level1/{}_P", i);
    run.manifest.push_back(samples::planned("alpha", problem.c_str(), 1, 0));
    run.records.push_back(samples::failed(
        Outcome::kProblemFailure, i < 290 ? "reference_raised" : "too_large",
        (std::to_string(i) + std::string(750, 'x')).c_str(), "alpha", problem.c_str(), 0));
  }
  const auto excluded = [&](bool verbose) {
    const Report report = build_report(run, {.verbose = verbose});
    EXPECT_THAT(report.excluded, SizeIs(300));
    for (const auto& [label, text] : report.run_summary)
      if (label == "excluded") return text;
    return std::string();
  };
  EXPECT_THAT(excluded(false),
              AllOf(testing::StartsWith("level1/0_P, level1/1_P, "),
                    HasSubstr(" and 280 more (problem failure, reference_raised, 290 samples; the "
                              "first: 0xxx"),
                    HasSubstr("level1/290_P, "), HasSubstr("too_large, 10 samples")));
  EXPECT_LT(excluded(false).size(), 1500u);
  EXPECT_THAT(excluded(true), HasSubstr("level1/289_P (problem"));
  EXPECT_THAT(written(build_report(run, {}), "markdown"), HasSubstr("## Models"));
  EXPECT_EQ(nlohmann::json::parse(written(build_report(run, {}), "json"))["exclusions"].size(),
            300u);
}

TEST(Leaderboard, ModelsAreRankedByWhatTheyAreScoredBy) {
  RunFile run = samples::gpu_run();
  // One of beta's three problems is fast, and one of alpha's two, so alpha is first.
  EXPECT_EQ(build_report(run, {}).summary[0].model, "alpha");
  EXPECT_EQ(build_report(run, {}).ranked_by, "fast_1");
  for (Record& record : run.records)
    if (record.model == "alpha" && record.outcome == Outcome::kCorrect) {
      record.outcome = Outcome::kMismatch;
      record.speedup.clear();
      record.timing.reset();
    }
  const Report report = build_report(run, {});
  EXPECT_EQ(report.summary[0].model, "beta");
  EXPECT_EQ(report.summary[0].rank, 1);
  EXPECT_EQ(report.summary[1].rank, 0) << "a level";
  for (const char* format : {"console", "markdown", "github"})
    EXPECT_THAT(written(report, format), AllOf(HasSubstr("1. beta"), HasSubstr("2. alpha")))
        << format;
  // A single model has no rank, and equal models share one.
  EXPECT_EQ(build_report(samples::cpu_run(), {}).ranked_by, "");
  for (Record& record : run.records)
    record = samples::mismatch(record.model.c_str(), "level1/19_ReLU");
  const Report equal = build_report(run, {});
  EXPECT_EQ(equal.ranked_by, "fast_1");
  for (const SummaryRow& row : equal.summary) EXPECT_EQ(row.rank, row.level < 0 ? 1 : 0);
}

TEST(Leaderboard, TheResultIsOneSentence) {
  RunFile run = samples::gpu_run();
  EXPECT_EQ(report::result_text(build_report(run, {})),
            "Best of 2 models: alpha has fast_1 0.50 (95 %: 0.00–1.00) and 3/4 samples correct.");
  EXPECT_EQ(report::result_text(build_report(samples::cpu_run(), {})),
            "alpha has pass@1 0.33 (95 %: 0.00–1.00) and 1/3 samples correct.");
  for (Record& record : run.records)
    record = samples::mismatch(record.model.c_str(), "level1/19_ReLU");
  EXPECT_THAT(report::result_text(build_report(run, {})),
              AllOf(HasSubstr("alpha has fast_1 0.00"), HasSubstr("; beta has fast_1 0.00")));
  run.records.clear();
  EXPECT_EQ(report::result_text(build_report(run, {})), "No sample has a verdict yet.");
}

TEST(Leaderboard, AModelWithoutAVerdictHasNoRank) {
  RunFile run = samples::gpu_run();
  std::erase_if(run.records, [](const Record& record) { return record.model == "beta"; });
  const Report report = build_report(run, {});
  for (const SummaryRow& row : report.summary)
    EXPECT_EQ(row.rank, row.model == "alpha" && row.level < 0 ? 1 : 0) << row.model;
  run.records.clear();
  EXPECT_EQ(build_report(run, {}).ranked_by, "");
}

TEST(Leaderboard, SaysWhereModelsWereAskedDifferentProblems) {
  RunFile run = samples::gpu_run();
  EXPECT_THAT(build_report(run, {}).warnings, Not(Contains(HasSubstr("different problems"))));
  std::erase_if(run.manifest, [](const ManifestEntry& entry) {
    return entry.model == "alpha" && entry.problem == "level1/19_ReLU";
  });
  EXPECT_THAT(build_report(run, {}).warnings,
              Contains("models have different problems, and each is ranked by its own: alpha 2, "
                       "beta 3 (2 problems in common)"));
  std::erase_if(run.manifest, [](const ManifestEntry& entry) { return entry.model == "alpha"; });
  EXPECT_THAT(build_report(run, {}).warnings, Not(Contains(HasSubstr("different problems"))));
}

TEST(Leaderboard, ModelsStandSideBySide) {
  const std::string text = written(build_report(samples::gpu_run(), {.verbose = true}), "console");
  EXPECT_THAT(text,
              testing::ContainsRegex("problem +1. alpha +2. beta\n"
                                     "  level1/2_Softmax +2/2 1.90x +1/2 2.50x\n"
                                     "  level1/19_ReLU +1/2 1.00x +0/1 mismatch\n"
                                     "  level2/3_MatmulGelu +0/2 problem failure +1/1 0.80x"));
  EXPECT_THAT(written(build_report(samples::cpu_run(), {}), "markdown"),
              Not(HasSubstr("side by side")));
}

TEST(FirstBlock, StandsInEveryFormat) {
  RunFile run = samples::gpu_run();
  run.headers[0].environment["sandbox"] = {{"lacks", {"memory"}}};
  const Report report = build_report(run, {});
  for (const char* format : {"console", "csv", "markdown", "junit", "github", "latex", "html"}) {
    const std::string text = written(report, format);
    EXPECT_THAT(text, AllOf(HasSubstr("INCOMPLETE 10/12"), HasSubstr("9d3b7c0f6a5e"),
                            HasSubstr("NVIDIA H200"), HasSubstr("without memory"),
                            HasSubstr("secret"), HasSubstr("0.1.0"), HasSubstr("MatmulGelu")))
        << format;
  }
}

TEST(FirstBlock, SaysWhatTheGpuWasMeasuredToReach) {
  RunFile run = samples::gpu_run();
  run.headers[0].environment["gpus"] = {
      {{"name", "NVIDIA H200"},
       {"memory_gb_s", 4917.0},
       {"measured", {{"memory_bytes_s", 4.1234e12}, {"flops_s", {{"fp32", 5.17e13}}}}}},
      {{"name", "a GPU that nobody measured"}}};
  EXPECT_THAT(
      written(build_report(run, {}), "console"),
      HasSubstr("  measured   a copy 4123 GB/s of 4917; products, in TFLOP/s: fp32 51.7\n"));
  run.headers[0].environment["gpus"][0]["measured"] = "of another version";
  EXPECT_THAT(written(build_report(run, {}), "console"), Not(HasSubstr("measured")));
}

TEST(FirstBlock, WarnsOfOtherVersionsAndNamesSomeLinesThatCannotBeRead) {
  RunFile run = samples::gpu_run();
  run.headers.push_back(run.headers[0]);
  run.headers[1].kbench_version = "0.2.0";
  run.bad_lines = {"line 1: a", "line 2: b", "line 3: c", "line 4: d"};
  EXPECT_THAT(build_report(run, {}).warnings,
              IsSupersetOf({"these are runs of 2 versions of kbench, which may judge differently: "
                            "0.1.0, 0.2.0",
                            "4 lines could not be read: line 1: a; line 2: b; line 3: c, …"}));
}

TEST(FirstBlock, ACsvHasNothingThatAProgramWouldObey) {
  RunFile run = samples::gpu_run();
  for (const char* name : {"=1+1", "\x1b[31mred", "-x,\x07", "a\nb"}) {
    run.records.front().message = name;
    const std::string text = written(build_report(run, {}), "csv");
    EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), Not(HasSubstr(",=1"))));
  }
  EXPECT_THAT(written(build_report(run, {}), "csv"), HasSubstr("\"a\nb\""));
  run.records.front().message = "-x,\x07";
  EXPECT_THAT(written(build_report(run, {}), "csv"), HasSubstr(",\"'-x,\xef\xbf\xbd\","));
}

TEST(FirstBlock, HasFieldsOfItsOwnInJson) {
  const auto json = nlohmann::json::parse(written(build_report(samples::gpu_run(), {}), "json"));
  const auto& run_settings = json.at("run_settings");
  EXPECT_EQ(run_settings.at("problem_sets"), nlohmann::json({"9d3b7c0f6a5e4d2c1b0a9988"}));
  EXPECT_EQ(run_settings.at("seeds"), nlohmann::json({"secret"}));
  EXPECT_EQ(run_settings.at("trust"), nlohmann::json({{"bounded", 1}, {"own_clock", 4}}));
  ASSERT_THAT(json.at("exclusions"), SizeIs(1));
  EXPECT_EQ(json.at("exclusions")[0].at("problem"), "level2/3_MatmulGelu");
  EXPECT_EQ(json.at("exclusions")[0].at("samples"), 2);
  ASSERT_THAT(json.at("unjudged"), SizeIs(1));
  EXPECT_EQ(json.at("unjudged")[0].at("sample"), 1);
}

TEST(FirstBlock, ACsvHasARowForEachPlannedSample) {
  const std::string text = written(build_report(samples::gpu_run(), {}), "csv");
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 12);
  EXPECT_THAT(text, HasSubstr("\r\nbeta,level2/3_MatmulGelu,2,1,,,native,NVIDIA H200,kbench,"
                              "no_verdict,"));
  ReportOptions options;
  options.select.add("outcome=mismatch");
  EXPECT_EQ(std::ranges::count(written(build_report(samples::gpu_run(), options), "csv"), '\n'),
            1 + 2);
}

}  // namespace
}  // namespace kbench
