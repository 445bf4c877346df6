// SPDX-License-Identifier: MIT
#include "kbench/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/scratch_folder.hpp"
#include "kbench/error.hpp"
#include "report/report_samples.hpp"

namespace kbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

std::vector<std::string> unmet(const Report& report, std::string_view gate) {
  return unmet_gates(report, {parse_gate(gate)});
}

TEST(Gates, NameTheModelsThatStayBelow) {
  const Report report = build_report(samples::gpu_run(), {.p = {0}});
  EXPECT_THAT(unmet_gates(report, {parse_gate("fast_1=0.4"), parse_gate("pass@1=0.2")}),
              ElementsAre("beta: fast_1 is 0.3333, below 0.4"));
  EXPECT_THAT(unmet(report, "pass@9=0"),
              ElementsAre(HasSubstr("undefined (fewer than 9 samples"), HasSubstr("beta")));
}

TEST(Gates, CountCorrectSamplesAndMeansOfSpeed) {
  const Report report = build_report(samples::gpu_run(), {});
  // alpha: 3 of 4 samples, beta: 2 of 6, of which one is no verdict yet and one a fault.
  EXPECT_THAT(unmet(report, "correct=0.5"), ElementsAre("beta: correct is 0.3333, below 0.5"));
  EXPECT_THAT(unmet(report, "correct=0.33"), IsEmpty());
  EXPECT_THAT(unmet(report, "geomean=1.4"), ElementsAre("alpha: geomean is 1.378, below 1.4"));
}

TEST(Gates, OfALevelLookAtItsProblemsAlone) {
  const Report report = build_report(samples::gpu_run(), {});
  EXPECT_THAT(unmet(report, "level1.fast_1=0.5"), IsEmpty());
  EXPECT_THAT(unmet(report, "level1.fast_1=0.6"),
              ElementsAre("alpha: level1.fast_1 is 0.5, below 0.6",
                          "beta: level1.fast_1 is 0.5, below 0.6"));
  EXPECT_THAT(unmet(report, "level2.fast_1=0.1"),
              ElementsAre(HasSubstr("alpha: level2.fast_1 is undefined (no problems)"),
                          "beta: level2.fast_1 is 0, below 0.1"));
  EXPECT_THAT([&] { unmet(report, "level7.fast_1=0.1"); },
              ThrowsMessage<UsageError>(HasSubstr("the run has no problem of level 7")));
}

TEST(Gates, AtTheLowerEndOfTheInterval) {
  const Report report = build_report(samples::gpu_run(), {});
  EXPECT_THAT(unmet(report, "geomean=1.3"), IsEmpty());
  EXPECT_THAT(unmet(report, "geomean@ci=1.3"), ElementsAre("alpha: geomean@ci is 1, below 1.3",
                                                           "beta: geomean@ci is 0.8, below 1.3"));
  EXPECT_EQ(parse_gate("level2.pass@5@ci=0.5").name(), "level2.pass@5@ci");
  // A metric of that name is itself: it counts speedups by the lower ends of their own intervals.
  EXPECT_FALSE(parse_gate("fast_1@ci=0.5").at_lower_end);
  EXPECT_EQ(parse_gate("fast_1@ci=0.5").metric.name(), "fast_1@ci");
}

TEST(Gates, OnSpeedWithoutAGpuAndNonsenseAreUsageErrors) {
  const Report report = build_report(samples::cpu_run(), {});
  EXPECT_THAT([&] { unmet(report, "fast_1=0.5"); },
              ThrowsMessage<UsageError>(HasSubstr("needs the times of a GPU")));
  EXPECT_THAT([&] { unmet(report, "level1.geomean@ci=0.5"); },
              ThrowsMessage<UsageError>(HasSubstr("level1.geomean@ci needs the times of a GPU")));
  EXPECT_THAT(unmet(report, "fast_0=0.5"), IsEmpty());
  EXPECT_THAT(unmet(report, "correct=0.5"), IsEmpty()) << "what is excluded does not count";
  for (const char* gate :
       {"fast_1", "fast_1=", "fast_1=x", "fast_1=nan", "speed=1", "", "level.fast_1=1",
        "level1fast_1=1", "level1.=1", "@ci=1", "level-1.fast_1=1"}) {
    EXPECT_THROW(parse_gate(gate), UsageError) << gate;
  }
}

class ExpectationsOf : public testing::Test {
 protected:
  Expectations read(const std::string& text) {
    const auto path = folder_.path() / "expected.json";
    std::ofstream(path) << text;
    return read_expectations(path);
  }
  test::ScratchFolder folder_;
};

TEST_F(ExpectationsOf, ARunSaysWhatCameOutOtherwise) {
  const Report report = build_report(samples::gpu_run(), {});
  const Expectations expected = read(R"j({
    "level1/2_Softmax": ["correct", "compile_failure"],
    "alpha": {"level1/19_ReLU": ["correct", "mismatch"], "level2/3_MatmulGelu": "problem_failure"},
    "beta": {"level1/19_ReLU": "correct", "level2/3_MatmulGelu": "correct"},
    "level9/1_None": "correct"})j");
  EXPECT_THAT(unmet_expectations(report, expected),
              ElementsAre("level1/19_ReLU beta 0: mismatch, expected correct (3 of 64 elements of "
                          "output 0 miss the tolerance)",
                          "level1/19_ReLU beta 1: harness_fault, expected correct (the judge ended "
                          "by signal 9)",
                          "level2/3_MatmulGelu beta 1: no verdict, expected correct",
                          "level9/1_None: not in this run, expected correct"));
}

TEST_F(ExpectationsOf, WhatARunWritesIsWhatItMeets) {
  for (RunFile run : {samples::gpu_run(), samples::cpu_run()}) {
    // A fault and a missing verdict are no outcomes to expect.
    std::erase_if(run.records,
                  [](const Record& record) { return record.outcome == Outcome::kHarnessFault; });
    std::erase_if(run.roster, [](const RosterEntry& entry) { return entry.sample == 1; });
    const Report report = build_report(run, {});
    std::ostringstream out;
    write_expectations(report, out);
    EXPECT_THAT(unmet_expectations(report, read(out.str())), IsEmpty()) << out.str();
  }
}

TEST_F(ExpectationsOf, NonsenseIsOneClearSentence) {
  for (const char* text :
       {"", "[]", "{\"p\": 1}", "{\"p\": \"right\"}", "{\"p\": []}", "{\"m\": {\"p\": {}}}"}) {
    EXPECT_THAT([&] { read(text); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr("expected.json"),
                                                HasSubstr("is no file of expected outcomes"))))
        << text;
  }
  EXPECT_THAT([&] { read_expectations(folder_.path() / "none.json"); },
              ThrowsMessage<UsageError>(HasSubstr("cannot read")));
}

TEST(FailOnGate, CheatsAreNamed) {
  RunFile run = samples::gpu_run();
  FailOn fail_on;
  parse_fail_on("cheat", fail_on);
  EXPECT_THAT(failed_on(build_report(run, {}), fail_on, nullptr), IsEmpty());
  for (Record& record : run.records)
    if (record.outcome == Outcome::kMismatch) record.outcome = Outcome::kCheat;
  EXPECT_THAT(failed_on(build_report(run, {}), fail_on, nullptr),
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
  EXPECT_THAT(failed_on(build_report(run, options), fail_on, nullptr), SizeIs(1));
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
      EXPECT_THAT(failed_on(build_report(run, {}), fail_on, &against),
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
      failed_on(report, new_failure, &against),
      ElementsAre("1 sample no longer correct, against old.jsonl: level1/2_Softmax alpha 0"));
  EXPECT_THAT(failed_on(report, regression, &against),
              ElementsAre(HasSubstr("no longer correct"),
                          "1 sample slower by more than 5 %, against old.jsonl: level1/19_ReLU "
                          "alpha 0"));
  EXPECT_THAT(failed_on(build_report(older, {}), new_failure, &against), IsEmpty());
  EXPECT_THAT(failed_on(build_report(older, {}), regression, &against), IsEmpty());
  EXPECT_THAT([&] { failed_on(report, new_failure, nullptr); },
              ThrowsMessage<UsageError>(HasSubstr("--against")));
  for (const char* gate : {"", "cheats", "regression=", "regression=x", "new-failures"})
    EXPECT_THROW(parse_fail_on(gate, wide), UsageError) << gate;
}

}  // namespace
}  // namespace kbench
