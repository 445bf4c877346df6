// SPDX-License-Identifier: MIT
// The conditions of `--fail-on`, in one run and in comparison with another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/error.hpp"
#include "report/comparison_samples.hpp"
#include "report/gate/gate.hpp"
#include "report/report_samples.hpp"

namespace kbench {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

std::vector<std::string> sentences_of(const Report& report, const FailOn& fail_on,
                                      const ComparedRun* older) {
  return failed_on(report, fail_on, older).sentences;
}

FailOn gate(const char* argument) {
  FailOn fail_on;
  parse_fail_on(argument, fail_on);
  return fail_on;
}

/// The sentences of a gate about a run that is compared with an older one.
std::vector<std::string> held(const RunFile& run, const RunFile& older, const char* argument,
                              const ReportOptions& options = {}) {
  const ComparedRun against{.name = "old.jsonl", .run = older, .label = {}};
  return sentences_of(build_report(run, options), gate(argument), &against);
}

TEST(FailOnGate, CheatsAreNamed) {
  RunFile run = samples::gpu_run();
  FailOn fail_on;
  parse_fail_on("cheat", fail_on);
  EXPECT_THAT(sentences_of(build_report(run, {}), fail_on, nullptr), IsEmpty());
  for (Record& record : run.records)
    if (record.outcome == Outcome::kMismatch) record.outcome = Outcome::kCheat;
  EXPECT_THAT(sentences_of(build_report(run, {}), fail_on, nullptr),
              ElementsAre("2 candidates cheat: level1/19_ReLU alpha 1, level1/19_ReLU beta 0"));
}

TEST(FailOnGate, CheatsAreNamedWhateverIsListed) {
  RunFile run = samples::gpu_run();
  for (Record& record : run.records)
    if (record.outcome == Outcome::kMismatch) record.outcome = Outcome::kCheat;
  ReportOptions options;
  options.select.add("outcome=correct");
  FailOn fail_on;
  parse_fail_on("cheat", fail_on);
  EXPECT_THAT(sentences_of(build_report(run, options), fail_on, nullptr), SizeIs(1));
}

TEST(FailOnGate, WhatHasNoVerdictAnyMoreFails) {
  const RunFile older = samples::gpu_run();
  RunFile torn = older;
  std::erase_if(torn.records, [](const Record& record) {
    return record.model == "alpha" && record.problem == "level1/2_Softmax" && record.sample == 0;
  });
  RunFile faulty = older;
  faulty.records[0].outcome = Outcome::kHarnessFault;
  const ComparedRun against{.name = "old.jsonl", .run = older, .label = {}};
  for (const char* gate : {"new-failure", "regression"}) {
    FailOn fail_on;
    parse_fail_on(gate, fail_on);
    for (const RunFile& run : {torn, faulty})
      EXPECT_THAT(sentences_of(build_report(run, {}), fail_on, &against),
                  ElementsAre("1 sample without a verdict now, correct before, against old.jsonl: "
                              "level1/2_Softmax alpha 0"));
  }
}

TEST(FailOnGate, ComparesWithAnOlderRun) {
  const RunFile older = samples::gpu_run();
  RunFile run = older;
  run.records[0] = samples::mismatch("alpha", "level1/2_Softmax", 0);
  Record& slow = run.records[2];  // alpha level1/19_ReLU 0, 0.01 ms
  for (double SideTiming::*field : {&SideTiming::median_ms, &SideTiming::mean_ms})
    slow.timing->sides["candidate"].*field = 0.02;
  slow.timing->sides["candidate"].lo_ms = 0.0199;
  slow.timing->sides["candidate"].hi_ms = 0.0201;
  const ComparedRun against{.name = "old.jsonl", .run = older, .label = {}};
  const Report report = build_report(run, {});
  FailOn new_failure, regression, wide;
  parse_fail_on("new-failure", new_failure);
  parse_fail_on("regression", regression);
  parse_fail_on("regression=60%", wide);
  EXPECT_EQ(wide.regression, 0.6);
  EXPECT_THAT(
      sentences_of(report, new_failure, &against),
      ElementsAre("1 sample no longer correct, against old.jsonl: level1/2_Softmax alpha 0"));
  EXPECT_THAT(sentences_of(report, regression, &against),
              ElementsAre(HasSubstr("no longer correct"),
                          "1 sample slower by more than 5 %, against old.jsonl: level1/19_ReLU "
                          "alpha 0"));
  EXPECT_THAT(sentences_of(build_report(older, {}), new_failure, &against), IsEmpty());
  EXPECT_THAT(sentences_of(build_report(older, {}), regression, &against), IsEmpty());
  EXPECT_THAT([&] { sentences_of(report, new_failure, nullptr); },
              ThrowsMessage<UsageError>(HasSubstr("--against")));
  for (const char* gate : {"", "cheats", "regression=", "regression=x", "new-failures"})
    EXPECT_THROW(parse_fail_on(gate, wide), UsageError) << gate;
}

TEST(FailOnGate, MisspeltIsToldWhatItMayHaveBeen) {
  FailOn fail_on;
  EXPECT_THAT([&] { parse_fail_on("cheet", fail_on); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean cheat?")));
  EXPECT_THAT([&] { parse_fail_on("regresion=5%", fail_on); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean regression?")));
}

TEST(FailOnGate, IsNotMetByARunWithoutVerdicts) {
  RunFile run = samples::gpu_run();
  run.records.clear();
  EXPECT_THAT(sentences_of(build_report(run, {}), gate("cheat"), nullptr),
              ElementsAre(HasSubstr("the run has no verdict")));
}

TEST(FailOnGate, NamesWhatIsNoLongerOnTheManifest) {
  const RunFile older = samples::gpu_run();
  RunFile run = older;
  const auto is_gone = [](const auto& sample) { return sample.problem == "level1/2_Softmax"; };
  std::erase_if(run.manifest, is_gone);
  std::erase_if(run.records, is_gone);
  for (const char* argument : {"new-failure", "regression"})
    EXPECT_THAT(
        held(run, older, argument),
        ElementsAre("3 samples no longer planned, correct before, against old.jsonl: "
                    "level1/2_Softmax alpha 0, level1/2_Softmax alpha 1, level1/2_Softmax beta 0"));
  ReportOptions options;
  options.select.add("problem!=2_Softmax");
  EXPECT_THAT(held(older, older, "new-failure", options), IsEmpty())
      << "what the selection leaves out is not missed";
}

TEST(FailOnGate, ComparesFilesAndNotNumbers) {
  const auto named = [](Record record, const char* file, int sample) {
    record.candidate = std::string("kernels/1_A/") + file;
    record.sample = sample;
    return record;
  };
  const Record right = samples::timed("level1/1_A", 0.01);
  const Record wrong = samples::mismatch("alpha", "level1/1_A");
  const RunFile older = samples::run_of({named(right, "row.cu", 0)});
  for (const char* argument : {"new-failure", "regression"}) {
    EXPECT_THAT(
        held(samples::run_of({named(right, "fast.cu", 0), named(wrong, "row.cu", 1)}), older,
             argument),
        testing::Contains("1 sample no longer correct, against old.jsonl: level1/1_A alpha 0 → 1"));
    EXPECT_THAT(held(samples::run_of({named(wrong, "a_new.cu", 0), named(right, "row.cu", 1)}),
                     older, argument),
                IsEmpty());
  }
}

TEST(FailOnGate, DoesNotMissWhatDidNotChange) {
  const RunFile older =
      samples::run_of({samples::timed("level1/1_A", 0.01), samples::timed("level1/2_B", 0.01)});
  RunFile run = samples::run_of({samples::timed("level1/1_A", 0.01)});
  EXPECT_THAT(held(run, older, "new-failure"), ElementsAre(HasSubstr("no longer planned")));
  run.headers[0].options["unchanged"] = {older.records[1].candidate};
  EXPECT_THAT(held(run, older, "new-failure"), IsEmpty());
  RunFile only_new = samples::run_of({samples::timed("level1/3_C", 0.01)});
  only_new.headers[0].options["unchanged"] = {older.records[0].candidate,
                                              older.records[1].candidate};
  for (const char* argument : {"new-failure", "regression"})
    EXPECT_THAT(held(only_new, older, argument), IsEmpty());
}

TEST(FailOnGate, NamesFilesThatSayMoreThanANumber) {
  Record record = samples::mismatch("alpha", "level1/1_A");
  record.outcome = Outcome::kCheat;
  const auto shown = [&](const char* candidate) {
    record.candidate = candidate;
    return sentences_of(build_report(samples::run_of({record}), {}), gate("cheat"), nullptr).at(0);
  };
  EXPECT_THAT(shown("k/resample_fast.cu"), EndsWith("alpha 0 (resample_fast.cu)"));
  for (const char* plain : {"k/0.cu", "k/level_1_problem_1_sample_0_kernel.py", "v1.5"})
    EXPECT_THAT(shown(plain), EndsWith("alpha 0")) << plain;
}

TEST(FailOnGate, SaysWhatItCouldNotCompare) {
  const RunFile older = samples::run_of({samples::timed("level1/1_A", 0.01)});
  const auto changed = [&](auto change) {
    Record record = samples::timed("level1/1_A", 0.1);  // ten times as slow
    change(record);
    return samples::run_of({record});
  };
  const RunFile precision = changed([](Record& record) { record.precision = "fp16"; });
  for (const char* argument : {"new-failure", "regression"})
    EXPECT_THAT(held(precision, older, argument),
                ElementsAre(HasSubstr("no sample of this run could be compared with old.jsonl: "
                                      "precision native and fp16")));
  const RunFile gpu = changed([](Record& record) { record.device = "NVIDIA A100"; });
  EXPECT_THAT(held(gpu, older, "new-failure"), IsEmpty()) << "outcomes can be compared";
  EXPECT_THAT(held(gpu, older, "regression"),
              ElementsAre("--fail-on regression: no time could be compared with old.jsonl: "
                          "NVIDIA H200 and NVIDIA A100"));
  RunFile cpu = changed([](Record& record) { record.device = "cpu"; });
  EXPECT_THAT(held(older, cpu, "regression"), ElementsAre(HasSubstr("no time could be compared")));
  // Both runs have several models, and none in common.
  RunFile renamed = samples::gpu_run();
  for (ManifestEntry& entry : renamed.manifest) entry.model = "new_" + entry.model;
  for (Record& record : renamed.records) record.model = "new_" + record.model;
  EXPECT_THAT(held(renamed, samples::gpu_run(), "new-failure"),
              ElementsAre(HasSubstr("no sample in common (alpha, beta there, new_alpha, new_beta "
                                    "here)")));
  EXPECT_THAT(held(samples::run_of({}), older, "new-failure"),
              ElementsAre(HasSubstr("no sample in common (alpha there, no model here)")));
  EXPECT_THAT(held(samples::run_of({samples::mismatch("alpha", "level1/1_A")}),
                   samples::run_of({samples::mismatch("alpha", "level1/1_A")}), "regression"),
              ElementsAre(HasSubstr("no sample is correct in both")));
}

TEST(FailOnGate, ThatPassesSaysHowMuchItCompared) {
  const auto [before, after] = samples::changed_runs();
  const ComparedRun against{.name = "old.jsonl", .run = before, .label = {}};
  EXPECT_EQ(failed_on(build_report(after, {}), gate("new-failure"), &against).compared,
            "8 samples compared with old.jsonl, 5 of them by time; 1 could not be compared: sizes "
            "of the file and rows=64");
}

TEST(FailOnGate, OnSpeedWithoutAGpuIsAUsageError) {
  const RunFile run = samples::cpu_run();
  EXPECT_THAT([&] { held(run, run, "regression"); },
              ThrowsMessage<UsageError>(HasSubstr("needs the times of a GPU")));
  EXPECT_THAT(held(run, run, "new-failure"), IsEmpty());
}

}  // namespace
}  // namespace kbench
