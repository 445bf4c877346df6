// SPDX-License-Identifier: MIT
#include "report/compare/comparison.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "kbench/error.hpp"
#include "report/approved.hpp"
#include "report/comparison_samples.hpp"

namespace kbench {
namespace {

using samples::run_of;
using samples::timed;
using test::expect_approved;
using testing::Contains;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

Comparison compared(RunFile before, RunFile after, const ComparisonOptions& options = {}) {
  std::vector<ComparedRun> runs;
  runs.push_back({.name = "before.jsonl", .run = std::move(before)});
  runs.push_back({.name = "after.jsonl", .run = std::move(after)});
  return build_comparison(std::move(runs), options);
}

RunComparison compared_pair(RunFile before, RunFile after) {
  return compared(std::move(before), std::move(after)).comparisons.at(0);
}

/// The comparison of a single sample.
ComparedSample sample_of(const Record& before, const Record& after) {
  const RunComparison pair = compared_pair(run_of({before}), run_of({after}));
  EXPECT_THAT(pair.samples, SizeIs(1));
  return pair.samples.at(0);
}

std::string written(const Comparison& comparison, std::string_view format) {
  std::ostringstream out;
  comparison_file(format).format->write(comparison, out);
  return out.str();
}

Comparison changed() {
  auto [before, after] = samples::changed_runs();
  return compared(std::move(before), std::move(after));
}

TEST(ComparisonFormats, EveryRowWritesItsApprovedText) {
  const Comparison comparison = changed();
  for (const ComparisonFormat& format : comparison_formats())
    expect_approved(written(comparison, format.name), fmt::format("compare_{}.txt", format.name));
}

TEST(ComparisonFormats, ThreeRunsOfTwoDevicesAndACpu) {
  std::vector<ComparedRun> runs;
  const auto of_device = [](const char* device, double ms) {
    Record record = timed("level1/2_Softmax", ms, 0.002, 3 * ms);
    record.device = device;
    if (std::string_view(device) == "cpu") {
      record.timing->method = "wall";
      record.speedup.clear();
    }
    return run_of({record}, std::string_view(device) == "cpu" ? "cpu" : "cuda");
  };
  runs.push_back({.name = "h200.jsonl", .run = of_device("NVIDIA H200", 0.010)});
  runs.push_back({.name = "h100.jsonl", .run = of_device("NVIDIA H100", 0.014)});
  runs.push_back({.name = "laptop.jsonl", .run = of_device("cpu", 20)});
  const Comparison comparison = build_comparison(std::move(runs), {});
  for (const char* format : {"console", "csv"})
    expect_approved(written(comparison, format), fmt::format("compare_devices_{}.txt", format));
}

TEST(Comparison, TellsWhatBecameOfEachSample) {
  const RunComparison pair = changed().comparisons.at(0);
  std::vector<std::string> changes_found;
  for (const ComparedSample& sample : pair.samples)
    changes_found.push_back(fmt::format("{} {}", sample.problem.str(),
                                        changes()[static_cast<std::size_t>(sample.change)].name));
  EXPECT_THAT(changes_found,
              ElementsAre("level1/1_Faster faster", "level1/2_Slower slower", "level1/3_Same same",
                          "level1/4_Ambiguous ambiguous", "level1/5_Fixed fixed",
                          "level1/6_Broken broken", "level1/7_BothWrong both_wrong",
                          "level1/8_Sizes not_comparable", "level1/9_LittleSlower slower"));
  for (const Change change : {Change::kFaster, Change::kSame, Change::kAmbiguous, Change::kFixed,
                              Change::kBroken, Change::kBothWrong, Change::kNotComparable})
    EXPECT_EQ(pair.count(change), 1) << changes()[static_cast<std::size_t>(change)].name;
  EXPECT_EQ(pair.count(Change::kSlower), 2);
  EXPECT_EQ(pair.only_in(true), 2);
  EXPECT_EQ(pair.only_in(false), 1);
  EXPECT_EQ(pair.mean.count, 5);
  EXPECT_NEAR(*pair.mean.value,
              std::pow(2 * (10 / 12.0) * (10 / 10.01) * (10 / 10.2) * (10 / 10.3), 0.2), 1e-12);
}

TEST(Comparison, ASampleThatIsOnlyPlannedHasNoVerdictYet) {
  const RunComparison pair = changed().comparisons.at(0);
  std::map<std::string, bool> planned;
  for (const UnmatchedSample& sample : pair.unmatched)
    planned[sample.problem.str()] = sample.planned;
  EXPECT_EQ(planned, (std::map<std::string, bool>{{"level1/10_OnlyBefore", false},
                                                  {"level1/11_NotYet", true},
                                                  {"level1/12_OnlyAfter", false}}));
}

TEST(Comparison, ARegressionIsBrokenOrSlowerByMoreThanTheGate) {
  const auto regressions_at = [](double share) {
    auto [before, after] = samples::changed_runs();
    return compared(before, after, {.regression = share}).comparisons.at(0).regressions;
  };
  EXPECT_EQ(regressions_at(0.05), 2);  // broken, and 20 % slower
  EXPECT_EQ(regressions_at(0.25), 1);  // broken
  EXPECT_EQ(regressions_at(0.01), 3);  // and 3 % slower; an ambiguous sample never is a regression
  EXPECT_EQ(regressions_at(0), 3);
}

TEST(Comparison, IntervalsAreOfBothSidesAndOfWhatDiffersFromRunToRun) {
  const ComparedSample sample = sample_of(timed("a", 0.010, 0.003), timed("a", 0.010, 0.004));
  ASSERT_TRUE(sample.time_ratio && sample.time_ratio->lo);
  EXPECT_DOUBLE_EQ(sample.time_ratio->value, 1);
  EXPECT_NEAR(*sample.time_ratio->hi, 1.01 * 1.005, 1e-4);
  EXPECT_NEAR(*sample.time_ratio->lo, 1 / (1.01 * 1.005), 1e-4);
}

TEST(Comparison, OlderRecordsHaveIntervalsFromTheirSpread) {
  Record record = timed("a", 0.010);
  SideTiming& side = record.timing->sides["candidate"];
  side.lo_ms = side.hi_ms = {};
  side.std_ms = 0.0005;
  side.count = 100;
  const ComparedSample sample = sample_of(record, record);
  EXPECT_NEAR(*sample.base_ms->hi, 0.010 * (1 + 1.96 * 1.2533 * 0.0005 / 10 / 0.010), 1e-6);
  side.count = 1;  // has no interval
  const ComparedSample unknown = sample_of(record, record);
  EXPECT_FALSE(unknown.base_ms->hi);
  EXPECT_EQ(unknown.change, Change::kAmbiguous);
  EXPECT_THAT(unknown.reason, HasSubstr("no interval"));
}

TEST(Comparison, OfOneKernelInTwoRunsSaysSeldomThatTheyDiffer) {
  // From run to run, medians vary by half a percent, which the measurements of a single run do not
  // show.
  std::mt19937_64 random(1);
  std::normal_distribution<double> run_to_run(0, 0.005), own(0, 0.002);
  const auto told_apart = [&](double truth) {
    int apart = 0;
    for (int i = 0; i < 300; ++i) {
      const auto median = [&](double ms) {
        return ms * std::exp(run_to_run(random) + own(random));
      };
      const Change change =
          sample_of(timed("a", median(0.010), 0.004), timed("a", median(0.010 / truth), 0.004))
              .change;
      apart += change == Change::kFaster || change == Change::kSlower ? 1 : 0;
    }
    return apart;
  };
  EXPECT_LE(told_apart(1), 15);
  EXPECT_GE(told_apart(1.05), 270);
}

TEST(Comparison, OnAnotherDeviceTheSpeedupDecidesAndNoTimeIsARegression) {
  Record before = timed("a", 0.010, 0.002, 0.030), after = timed("a", 0.020, 0.002, 0.030);
  after.device = "NVIDIA A100";
  const ComparedSample sample = sample_of(before, after);
  EXPECT_EQ(sample.basis, Basis::kSpeedup);
  EXPECT_EQ(sample.change, Change::kSlower);
  EXPECT_NEAR(sample.decisive()->value, 0.5, 1e-12);
  EXPECT_FALSE(sample.regression);
  after.speedup[0].baseline = "compile";
  const ComparedSample unshared = sample_of(before, after);
  EXPECT_EQ(unshared.change, Change::kBothCorrect);
  EXPECT_THAT(unshared.reason, HasSubstr("no shared baseline"));
  EXPECT_EQ(sample_of(before, samples::mismatch("alpha", "a")).regression, true);
}

TEST(Comparison, TheCpuDecidesNothing) {
  Record before = timed("a", 10), after = timed("a", 20);
  before.device = after.device = "cpu";
  const ComparedSample sample = sample_of(before, after);
  EXPECT_EQ(sample.change, Change::kBothCorrect);
  EXPECT_EQ(sample.decisive(), nullptr);
  EXPECT_FALSE(sample.regression);
}

TEST(Comparison, WhatIsNotOneTaskIsNotComparable) {
  const Record before = timed("a", 0.010);
  const auto reason = [&](auto change) {
    Record after = timed("a", 0.020);
    change(after);
    const ComparedSample sample = sample_of(before, after);
    EXPECT_EQ(sample.change, Change::kNotComparable);
    EXPECT_FALSE(sample.regression);
    return sample.reason;
  };
  EXPECT_THAT(reason([](Record& r) { r.precision = "fp16"; }), HasSubstr("native and fp16"));
  EXPECT_THAT(reason([](Record& r) { r.judge = kCompatJudge; }), HasSubstr("judged by"));
  EXPECT_THAT(reason([](Record& r) { r.problem_hash = "p1"; }), HasSubstr("two versions"));
  EXPECT_THAT(reason([](Record& r) { r.sizes = R"({"n":"4"})"; }), HasSubstr("sizes"));
  EXPECT_THAT(reason([](Record& r) {
                r = samples::failed(Outcome::kHarnessFault, "judge_died", "x", "alpha", "a");
              }),
              HasSubstr("no verdict"));
}

TEST(Comparison, TimesOfDifferentKindsAreNotCompared) {
  const auto change = [](auto edit) {
    Record after = timed("a", 0.020);
    edit(*after.timing);
    const ComparedSample sample = sample_of(timed("a", 0.010), after);
    EXPECT_EQ(sample.change, Change::kBothCorrect);
    return sample.reason;
  };
  EXPECT_THAT(change([](Timing& timing) { timing.method = "kb_events"; }), HasSubstr("kb_events"));
  EXPECT_THAT(change([](Timing& timing) { timing.method = timing.trust = "bounded"; }),
              HasSubstr("timed by gated and by bounded"));
  RunFile warm = run_of({timed("a", 0.010)});
  warm.headers[0].options["l2"] = "warm";
  const RunComparison pair = compared_pair(run_of({timed("a", 0.010)}), warm);
  EXPECT_EQ(pair.samples.at(0).change, Change::kBothCorrect);
  EXPECT_THAT(pair.notes, Contains(HasSubstr("L2 cold and warm")));
}

TEST(Comparison, NoTimeIsEarnedOnADegenerateProblem) {
  const auto sol = [](double share) {
    SpeedOfLight limit;
    limit.share = share;
    return limit;
  };
  Record before = timed("a", 0.020), after = timed("a", 0.010);
  before.sol = sol(0.2);
  after.sol = sol(0.4);
  const auto pair_of = [&](std::optional<std::vector<std::string>> names) {
    before.degenerate_problem = names;
    return compared_pair(run_of({before}), run_of({after}));
  };
  for (const bool asked : {false, true}) {
    const RunComparison earned =
        asked ? pair_of(std::vector<std::string>()) : pair_of(std::nullopt);
    EXPECT_EQ(earned.samples.at(0).change, Change::kFaster);
    EXPECT_EQ(earned.mean.count, 1);
    EXPECT_EQ(earned.base_limit.count, 1);
  }
  const RunComparison pair = pair_of({{"constant", "zeros"}});
  EXPECT_EQ(pair.samples.at(0).change, Change::kBothCorrect);
  EXPECT_THAT(pair.samples.at(0).reason,
              HasSubstr("degenerate problem: constant, zeros pass its whole check"));
  EXPECT_EQ(pair.mean.count, 0);
  EXPECT_EQ(pair.base_limit.count, 0);
}

TEST(Comparison, TheOnlyModelsOfTwoRunsAreComparedWhateverTheirNames) {
  Record after = timed("a", 0.005);
  after.model = "beta";
  const RunComparison pair = compared_pair(run_of({timed("a", 0.010)}), run_of({after}));
  ASSERT_THAT(pair.samples, SizeIs(1));
  EXPECT_EQ(pair.samples[0].change, Change::kFaster);
  EXPECT_THAT(pair.notes, Contains(HasSubstr("alpha")));
  // With several models, only equal names are compared.
  const RunComparison several =
      compared_pair(run_of({timed("a", 0.010)}), run_of({after, timed("b", 0.010)}));
  EXPECT_THAT(several.samples, IsEmpty());
  EXPECT_EQ(several.only_in(true), 1);
  EXPECT_EQ(several.only_in(false), 2);
  EXPECT_THAT(several.notes, Contains(HasSubstr("no sample in common")));
}

TEST(Comparison, OfTwoVerdictsOnOneSampleTheLastCounts) {
  const RunComparison pair = compared_pair(
      run_of({timed("a", 0.010)}), run_of({samples::mismatch("alpha", "a"), timed("a", 0.005)}));
  ASSERT_THAT(pair.samples, SizeIs(1));
  EXPECT_EQ(pair.samples[0].change, Change::kFaster);
  EXPECT_THAT(pair.unmatched, IsEmpty());
}

TEST(Comparison, VerdictsAtTwoPrecisionsAreComparedEachWithItsOwn) {
  Record half = timed("a", 0.004);
  half.precision = "fp16";
  const RunComparison pair =
      compared_pair(run_of({timed("a", 0.010), half}), run_of({half, timed("a", 0.010)}));
  ASSERT_THAT(pair.samples, SizeIs(2));
  for (const ComparedSample& sample : pair.samples) EXPECT_EQ(sample.change, Change::kSame);
}

TEST(Comparison, SaysWhatIsMissingInEachFile) {
  auto [before, after] = samples::changed_runs();
  after.ended = false;
  after.torn = true;
  const Comparison comparison = compared(before, after);
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("B: the run has not ended")));
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("B: the last line is cut off")));
  EXPECT_THAT(comparison.warnings,
              Contains(HasSubstr("B: 1 of 11 planned samples has no verdict")));
  EXPECT_THAT(comparison.warnings, Not(Contains(HasSubstr("A: "))));
}

TEST(Comparison, NamesOfCandidatesSteerNoTerminalAndNoPage) {
  Record record = timed("level1/1_A", 0.010);
  record.model = "evil\x1b[31m|*name*\n";
  const Comparison comparison = compared(run_of({record}), run_of({record}));
  EXPECT_THAT(written(comparison, "console"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(written(comparison, "markdown"), HasSubstr("\\|\\*name\\*"));
}

TEST(Comparison, NeedsTwoRuns) {
  std::vector<ComparedRun> one;
  one.push_back({.name = "a", .run = run_of({})});
  EXPECT_THROW(build_comparison(std::move(one), {}), UsageError);
  const Comparison empty = compared(run_of({}), run_of({}));
  for (const ComparisonFormat& format : comparison_formats())
    EXPECT_FALSE(written(empty, format.name).empty());
}

TEST(ComparisonJson, HoldsTheWholeModel) {
  const auto json = nlohmann::json::parse(written(changed(), "json"));
  EXPECT_THAT(json.at("samples"), SizeIs(9));
  EXPECT_THAT(json.at("unmatched"), SizeIs(3));
  EXPECT_EQ(json.at("summary").at(0).at("regressions"), 2);
  EXPECT_EQ(json.at("summary").at(0).at("changes").at("slower"), 2);
  EXPECT_EQ(json.at("samples").at(1).at("time_ratio").at("value"), 0.010 / 0.012);
}

TEST(RegressionGate, IsAShare) {
  EXPECT_DOUBLE_EQ(parse_regression_gate("regression"), 0.05);
  EXPECT_DOUBLE_EQ(parse_regression_gate("regression=3%"), 0.03);
  EXPECT_DOUBLE_EQ(parse_regression_gate("regression=0.1"), 0.1);
  EXPECT_DOUBLE_EQ(parse_regression_gate("regression=0"), 0);
  for (const char* faulty : {"regression=", "regression=%", "regression=-1%", "regression=1",
                             "regression=5 %", "regression=nan", "regress=5%", "", "=5%"})
    EXPECT_THROW(parse_regression_gate(faulty), UsageError) << faulty;
  EXPECT_THAT([] { parse_regression_gate("progress"); },
              ThrowsMessage<UsageError>(HasSubstr("there is regression")));
}

TEST(RegressionGate, FailsWhereARunThatWasCutOffHasNoVerdict) {
  const RunFile before = run_of({timed("a", 1), timed("b", 1), timed("c", 1)});
  RunFile after = before;
  after.records.resize(1);
  EXPECT_THAT(regressions(compared(before, after)),
              testing::ElementsAre("after.jsonl has no verdict yet on 2 samples that are correct "
                                   "in before.jsonl: b alpha 0, c alpha 0"));
  after.manifest.resize(1);
  EXPECT_THAT(regressions(compared(before, after)),
              testing::ElementsAre("after.jsonl does not plan 2 samples that are correct in "
                                   "before.jsonl: b alpha 0, c alpha 0"));
}

TEST(RegressionGate, FailsWhereNothingCouldBeCompared) {
  Record half = timed("a", 1);
  half.precision = "fp16";
  EXPECT_THAT(regressions(compared(run_of({timed("a", 1)}), run_of({half}))),
              testing::ElementsAre(HasSubstr("no sample could be compared with before.jsonl by "
                                             "time: precision native and fp16")));
  Record other = timed("a", 1);
  other.device = "NVIDIA A100";
  EXPECT_THAT(regressions(compared(run_of({timed("a", 1)}), run_of({other}))),
              testing::ElementsAre(HasSubstr("NVIDIA H200 and NVIDIA A100")));
  // Of runs on a CPU only outcomes are compared.
  other.device = "cpu";
  EXPECT_THAT(regressions(compared(run_of({other}), run_of({other}))), IsEmpty());
  EXPECT_THAT(regressions(compared(run_of({}), run_of({}))),
              testing::ElementsAre(HasSubstr("no sample in common")));
}

TEST(RegressionGate, NamesWhatRegressed) {
  const auto sentences = regressions(changed());
  ASSERT_THAT(sentences, SizeIs(3));
  EXPECT_THAT(sentences[0], HasSubstr("level1/11_NotYet alpha 0"));
  EXPECT_THAT(sentences[1], HasSubstr("level1/10_OnlyBefore alpha 0"));
  EXPECT_THAT(sentences[2], HasSubstr("after.jsonl has 2 regressions against before.jsonl"));
  EXPECT_THAT(sentences[2], HasSubstr("level1/2_Slower alpha 0 (slower by 20 %)"));
  EXPECT_THAT(sentences[2], HasSubstr("level1/6_Broken alpha 0 (correct → mismatch, values)"));
  EXPECT_THAT(regressions(compared(run_of({timed("a", 1)}), run_of({timed("a", 1)}))), IsEmpty());
}

TEST(Compared, WhatTwoDigitsHideIsTold) {
  // Rounded, both have 1.00x 0.98–1.02.
  const Comparison comparison = compared(
      run_of({timed("level1/1_Same", 0.01), timed("level1/2_Ambiguous", 0.01)}),
      run_of({timed("level1/1_Same", 0.01, 0.008), timed("level1/2_Ambiguous", 0.01, 0.012)}));
  const std::string text = written(comparison, "console");
  EXPECT_THAT(text, ContainsRegex("same +level1/1_Same [^\n]*1.00x 0.9.–1.0.\n"));
  EXPECT_THAT(
      text, ContainsRegex("ambiguous +level1/2_Ambiguous [^\n]*1.00x 0.98–1.02  0.97..–1.02..\n"));
}

}  // namespace
}  // namespace kbench
