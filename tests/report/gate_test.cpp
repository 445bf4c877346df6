// SPDX-License-Identifier: MIT
#include "report/gate/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/test_folder.hpp"
#include "kbench/error.hpp"
#include "report/comparison_samples.hpp"

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
              ElementsAre("beta: fast_1 is 0.3333, below 0.4 (1 sample has no verdict and "
                          "counts as wrong)"));
  EXPECT_THAT(unmet(report, "pass@9=0"),
              ElementsAre(HasSubstr("undefined (fewer than 9 judged samples"), HasSubstr("beta")));
}

TEST(Gates, CountCorrectSamplesAndMeansOfSpeed) {
  const Report report = build_report(samples::gpu_run(), {});
  // alpha: 3 of 4 samples are correct. beta: 2 of 6; of the others one has no verdict yet, and one
  // is a fault.
  EXPECT_THAT(unmet(report, "correct=0.5"),
              ElementsAre(HasSubstr("beta: correct is 0.3333, below 0.5 (1 sample has")))
      << "an unfinished run meets no gate that its other samples may break";
  EXPECT_THAT(unmet(report, "correct=0.33"), IsEmpty());
  EXPECT_THAT(unmet(report, "geomean=1.4"), ElementsAre("alpha: geomean is 1.378, below 1.4"));
}

TEST(Gates, LeaveDegenerateProblemsOutUnlessTheyAreToCount) {
  // Without ReLU, all of alpha's samples are correct, and 2 of beta's 4.
  EXPECT_THAT(unmet(build_report(samples::degenerate_run(), {}), "correct=0.5"), IsEmpty());
  ReportOptions all;
  all.include_degenerate = true;
  EXPECT_THAT(unmet(build_report(samples::degenerate_run(), all), "correct=0.5"),
              ElementsAre(HasSubstr("beta: correct is 0.3333, below 0.5")));
}

TEST(Gates, OfALevelLookAtItsProblemsAlone) {
  const Report report = build_report(samples::gpu_run(), {});
  EXPECT_THAT(unmet(report, "level1.fast_1=0.5"), IsEmpty());
  EXPECT_THAT(unmet(report, "level1.fast_1=0.6"),
              ElementsAre("alpha: level1.fast_1 is 0.5, below 0.6",
                          HasSubstr("beta: level1.fast_1 is 0.5, below 0.6")));
  EXPECT_THAT(unmet(report, "level2.fast_1=0.1"),
              ElementsAre(HasSubstr("alpha: level2.fast_1 is undefined (no problems)"),
                          HasSubstr("beta: level2.fast_1 is 0, below 0.1")));
  EXPECT_THAT([&] { unmet(report, "level7.fast_1=0.1"); },
              ThrowsMessage<UsageError>(HasSubstr("the run has no problem of level 7")));
}

TEST(Gates, AtTheLowerEndOfTheInterval) {
  const Report report = build_report(samples::gpu_run(), {});
  EXPECT_THAT(unmet(report, "geomean=1.3"), IsEmpty());
  EXPECT_THAT(unmet(report, "geomean@ci=1.3"),
              ElementsAre("alpha: geomean@ci is 1, below 1.3",
                          HasSubstr("beta: geomean@ci is 0.8, below 1.3")));
  EXPECT_EQ(parse_gate("level2.pass@5@ci=0.5").name(), "level2.pass@5@ci");
}

TEST(Gates, AtTheLowerEndAreOfTheMetricAndNotOfOneOfThatName) {
  const Gate gate = parse_gate("fast_1@ci=0.5");
  EXPECT_TRUE(gate.at_lower_end);
  EXPECT_EQ(gate.metric.name(), "fast_1");
  EXPECT_EQ(gate.name(), "fast_1@ci");
  const Gate twice = parse_gate("level1.fast_1@ci@ci=0.5");
  EXPECT_TRUE(twice.at_lower_end);
  EXPECT_EQ(twice.metric.name(), "fast_1@ci");
  EXPECT_EQ(twice.name(), "level1.fast_1@ci@ci");
  // Two of four problems are fast, each with a narrow interval of its own. The interval of the
  // fraction is wide.
  RunFile run;
  run.headers = {samples::header("cuda")};
  for (const char* problem : {"level1/1_A", "level1/2_B", "level1/3_C", "level1/4_D"}) {
    run.manifest.push_back(samples::planned("alpha", problem, 1, 0));
    Record record = samples::correct("alpha", problem, 0, run.records.size() < 2 ? 2.0 : 0.5);
    record.speedup[0].lo = record.speedup[0].value * 0.99;
    run.records.push_back(record);
  }
  const Report report = build_report(run, {});
  EXPECT_THAT(unmet(report, "fast_1=0.4"), IsEmpty());
  EXPECT_THAT(unmet(report, "fast_1@ci=0.4"), ElementsAre("alpha: fast_1@ci is 0, below 0.4"));
  EXPECT_THAT(unmet(report, "fast_1@ci@ci=0.4"),
              ElementsAre("alpha: fast_1@ci@ci is 0, below 0.4"));
}

/// A run with only its first line.
RunFile nothing() {
  RunFile run;
  run.headers = {samples::header("cuda")};
  return run;
}

TEST(Gates, AreNotMetByNothing) {
  const Report report = build_report(nothing(), {});
  for (const char* gate : {"correct=1", "correct=0", "geomean=0", "fast_1@ci=0"})
    EXPECT_THAT(unmet(report, gate), ElementsAre(HasSubstr("the run's manifest has no candidate")));
  RunFile unjudged = nothing();
  unjudged.manifest = {samples::planned("alpha", "level1/19_ReLU", 1, 0)};
  EXPECT_THAT(unmet(build_report(unjudged, {}), "correct=0.1"),
              ElementsAre("alpha: correct is 0, below 0.1 (1 sample has no verdict and counts as "
                          "wrong)"));
}

TEST(Gates, OnSpeedWithoutAGpuAndNonsenseAreUsageErrors) {
  const Report report = build_report(samples::cpu_run(), {});
  EXPECT_THAT([&] { unmet(report, "fast_1=0.5"); },
              ThrowsMessage<UsageError>(HasSubstr("needs the times of a GPU")));
  EXPECT_THAT([&] { unmet(report, "level1.geomean@ci=0.5"); },
              ThrowsMessage<UsageError>(HasSubstr("level1.geomean@ci needs the times of a GPU")));
  EXPECT_THAT(unmet(report, "fast_0=0.33"), IsEmpty());
  EXPECT_THAT(unmet(report, "correct=0.33"), IsEmpty());
  EXPECT_THAT(unmet(report, "correct=0.5"), ElementsAre(HasSubstr("alpha: correct is 0.3333")))
      << "what is unsupported counts";
  for (const char* gate : {"fast_1", "fast_1=", "fast_1=x", "fast_1=nan", "speed=1", "",
                           "level.fast_1=1", "level1fast_1=1", "level1.=1", "@ci=1",
                           "level-1.fast_1=1", "fast_1=30", "correct@ci=1.01"}) {
    EXPECT_THROW(parse_gate(gate), UsageError) << gate;
  }
  EXPECT_EQ(parse_gate("geomean=30").least, 30) << "a ratio";
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
    "alpha/level1/2_Softmax/0.cu": "correct",
    "alpha/level1/2_Softmax/1.cu": ["crash", "mismatch"],
    "alpha/level1/19_ReLU/1.cu": ["correct", "mismatch"],
    "alpha/level2/3_MatmulGelu/0.cu": "problem_failure",
    "beta/level1/19_ReLU/0.cu": "correct",
    "beta/level1/19_ReLU/1.cu": "correct",
    "beta/level2/3_MatmulGelu/1.cu": "correct",
    "0.cu": ["correct", "problem_failure"],
    "1.cu": ["compile_failure", "problem_failure"]})j");
  EXPECT_THAT(
      unmet_expectations(report, expected),
      ElementsAre("alpha/level1/2_Softmax/1.cu: correct, expected crash or mismatch",
                  "beta/level1/19_ReLU/0.cu: mismatch, expected correct (3 of 64 elements of "
                  "output 0 miss the tolerance)",
                  "beta/level1/19_ReLU/1.cu: harness_fault, expected correct (the judge ended by "
                  "signal 9)",
                  "beta/level2/3_MatmulGelu/1.cu: no verdict in this run, expected correct"));
}

TEST_F(ExpectationsOf, AFileStaysItselfWhereAnotherTakesItsSampleNumber) {
  const Expectations expected = read(R"({"*": "correct", "mine/level1/19_ReLU/wrong.cu": "mismatch",
                                         "mine/level1/19_ReLU/right.cu": "correct"})");
  RunFile run;
  run.headers = {samples::header("cuda")};
  int sample = 0;
  for (const char* name : {"new.cu", "right.cu", "wrong.cu"}) {
    run.manifest.push_back(samples::planned("mine", "level1/19_ReLU", 1, sample));
    run.records.push_back(std::string_view(name) == "wrong.cu"
                              ? samples::mismatch("mine", "level1/19_ReLU", sample)
                              : samples::correct("mine", "level1/19_ReLU", sample));
    run.records.back().candidate = std::string("mine/level1/19_ReLU/") + name;
    ++sample;
  }
  EXPECT_THAT(unmet_expectations(build_report(run, {}), expected), IsEmpty());
}

TEST_F(ExpectationsOf, AFileMayBeNamedByTheEndOfItsPath) {
  RunFile run = samples::cpu_run();
  for (Record& record : run.records) record.candidate = "/home/runner/" + record.candidate;
  const Report report = build_report(run, {});
  EXPECT_THAT(unmet_expectations(report, read(R"({"./19_ReLU/0.cu": "mismatch",
                                                  "level2/3_MatmulGelu/0.cu": "unsupported",
                                                  "0.cu": "correct"})")),
              IsEmpty())
      << "the longest that fits counts";
  EXPECT_THAT(unmet_expectations(report, read(R"({"9_ReLU/0.cu": "mismatch",
                                                  "*": ["correct", "mismatch", "unsupported"]})")),
              ElementsAre("9_ReLU/0.cu: no verdict in this run, expected mismatch"))
      << "an end is one of whole names";
}

TEST_F(ExpectationsOf, WhatARunWritesIsWhatItMeets) {
  for (RunFile run : {samples::gpu_run(), samples::cpu_run()}) {
    // A fault or a missing verdict is no expected outcome.
    std::erase_if(run.records,
                  [](const Record& record) { return record.outcome == Outcome::kHarnessFault; });
    std::erase_if(run.manifest, [](const ManifestEntry& entry) { return entry.sample == 1; });
    const Report report = build_report(run, {});
    std::ostringstream out;
    write_expectations(report, out);
    EXPECT_THAT(unmet_expectations(report, read(out.str())), IsEmpty()) << out.str();
  }
}

TEST_F(ExpectationsOf, ALaterFileMustBeCorrect) {
  RunFile run = samples::run_of({samples::mismatch("mine", "level1/19_ReLU")});
  std::ostringstream out;
  write_expectations(build_report(run, {}), out);
  const Expectations expected = read(out.str());
  EXPECT_EQ(expected.outcomes.at(kAnyFile), std::vector{Outcome::kCorrect});
  run = samples::run_of({samples::mismatch("mine", "level1/19_ReLU"),
                         samples::correct("mine", "level1/19_ReLU", 1),
                         samples::mismatch("mine", "level1/19_ReLU", 2)});
  EXPECT_THAT(unmet_expectations(build_report(run, {}), expected),
              ElementsAre(HasSubstr("mine/level1/19_ReLU/2.cu: mismatch, expected correct")));
}

TEST_F(ExpectationsOf, AFileWithoutAKeyIsNamed) {
  const Report report = build_report(samples::cpu_run(), {});
  EXPECT_THAT(unmet_expectations(report, read(R"({"19_ReLU/0.cu": "mismatch"})")),
              ElementsAre(AllOf(HasSubstr("2 files are not in "),
                                HasSubstr("expected.json: alpha/level1/2_Softmax/0.cu, "
                                          "alpha/level2/3_MatmulGelu/0.cu;"))));
}

TEST_F(ExpectationsOf, AStarIsForAllThatIsNotNamed) {
  const Report report = build_report(samples::cpu_run(), {});
  EXPECT_THAT(
      unmet_expectations(report, read(R"({"*": "correct", "3_MatmulGelu/0.cu": "unsupported"})")),
      ElementsAre(HasSubstr("alpha/level1/19_ReLU/0.cu: mismatch, expected correct")));
  EXPECT_THAT(unmet_expectations(report, read(R"({"*": ["correct", "mismatch", "unsupported"],
                                                  "9_None/0.cu": "correct"})")),
              ElementsAre("9_None/0.cu: no verdict in this run, expected correct"));
  RunFile unjudged = nothing();
  unjudged.manifest = {samples::planned("alpha", "level1/19_ReLU", 1, 0)};
  EXPECT_THAT(unmet_expectations(build_report(unjudged, {}), read(R"({"*": "correct"})")),
              ElementsAre("level1/19_ReLU alpha 0: no verdict, expected correct"));
}

TEST_F(ExpectationsOf, AreNotMetByNothing) {
  EXPECT_THAT(unmet_expectations(build_report(samples::gpu_run(), {}), read("{}")),
              ElementsAre(HasSubstr("files are not in")));
  EXPECT_THAT(unmet_expectations(build_report(nothing(), {}), read("{}")),
              ElementsAre(AllOf(HasSubstr("expected.json: no sample was compared with it"),
                                HasSubstr("it names no file"))));
  EXPECT_THAT(unmet_expectations(build_report(nothing(), {}), read(R"({"*": "correct"})")),
              ElementsAre(HasSubstr("it names none of this run's files")));
}

TEST_F(ExpectationsOf, WhatIsNotSelectedIsNotMissed) {
  const Expectations expected =
      read(R"({"alpha/level1/2_Softmax/0.cu": "correct", "1.cu": "correct",
      "beta/level1/19_ReLU/0.cu": "crash", "3_MatmulGelu/0.cu": "correct",
      "9_None/0.cu": "correct"})");
  ReportOptions options;
  options.select.add("problem=2_Softmax");
  options.select.add("model=alpha");
  EXPECT_THAT(unmet_expectations(build_report(samples::gpu_run(), options), expected),
              ElementsAre("9_None/0.cu: no verdict in this run, expected correct"));
}

TEST_F(ExpectationsOf, WhatDidNotChangeIsNotMissed) {
  RunFile run = samples::run_of({samples::correct("mine", "level1/2_Softmax")});
  run.headers[0].options["unchanged"] = {"mine/level1/19_ReLU/0.cu", "mine/level1/19_ReLU/1.cu"};
  EXPECT_THAT(
      unmet_expectations(build_report(run, {}), read(R"({"*": "correct", "19_ReLU/0.cu": "mismatch",
                                          "mine/level1/19_ReLU/1.cu": "crash",
                                          "9_None/0.cu": "correct"})")),
      ElementsAre("9_None/0.cu: no verdict in this run, expected correct"));
}

TEST_F(ExpectationsOf, OtherProblemsThanThoseNamedAreNotMissed) {
  RunFile run = samples::run_of({samples::correct("mine", "level1/2_Softmax")});
  const Expectations expected = read(R"({"*": "correct", "19_ReLU/0.cu": "mismatch"})");
  EXPECT_THAT(unmet_expectations(build_report(run, {}), expected), SizeIs(1));
  run.headers[0].options["narrowed"] = true;
  EXPECT_THAT(unmet_expectations(build_report(run, {}), expected), IsEmpty());
}

TEST_F(ExpectationsOf, NonsenseIsOneClearSentence) {
  for (const char* text : {"", "[]", "{\"f\": 1}", "{\"f\": \"right\"}", "{\"f\": []}",
                           "{\"m\": {\"level1/19_ReLU\": \"correct\"}}"}) {
    EXPECT_THAT([&] { read(text); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr("expected.json"),
                                                HasSubstr("is not a file of expected outcomes"))))
        << text;
  }
  EXPECT_THAT([&] { read(R"({"2_Softmax/0.cu": "corect"})"); },
              ThrowsMessage<UsageError>(
                  HasSubstr("\"corect\" of \"2_Softmax/0.cu\" is not an outcome; did you mean "
                            "correct?")));
  EXPECT_THAT([&] { read_expectations(folder_.path() / "none.json"); },
              ThrowsMessage<UsageError>(HasSubstr("cannot read")));
}

}  // namespace
}  // namespace kbench
