// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/kbench_process.hpp"
#include "record/run_log_fixture.hpp"
#include "report/report_samples.hpp"

namespace kbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int kUsage = 2;
constexpr int kGate = 3;

/// Commands that read files: report, gates, show and watch. No candidate is run.
class ReportCommand : public testing::Test {
 protected:
  void SetUp() override {
    write("gpu.jsonl", samples::gpu_run());
    write("cpu.jsonl", samples::cpu_run());
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  void write(const std::string& name, const RunFile& run) const {
    RunWriter writer(path(name), false);
    writer.write(run.headers.at(0));
    writer.write(run.manifest);
    for (const Record& record : run.records) writer.write(record, {{"log", "a log\n"}});
    if (run.ended) writer.write_end("5ec7e7", true);
  }

  CommandResult report(const std::string& file, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"report", path(file)});
    return run_kbench(arguments, {}, std::chrono::seconds(60));
  }

  TempFolder folder_;
};

TEST_F(ReportCommand, EachUnmetGateIsASentenceAndTheEndIs3) {
  const auto result = report("gpu.jsonl", {"--fail-under", "correct=0.5", "--fail-under",
                                           "level1.fast_1=0.5", "--format", "expect"});
  EXPECT_EQ(result.status.code, kGate);
  EXPECT_EQ(result.error,
            "kbench: beta: correct is 0.3333, below 0.5 (1 sample has no verdict and counts as "
            "wrong)\n");
  EXPECT_EQ(report("gpu.jsonl", {"--fail-under", "correct=0.3"}).status.code, 0);
  EXPECT_EQ(report("cpu.jsonl", {"--fail-under", "geomean=1"}).status.code, kUsage);
}

TEST_F(ReportCommand, NoGateIsMetByNothing) {
  RunFile nothing;
  nothing.headers = {samples::header("cuda")};
  write("nothing.jsonl", nothing);
  folder_.write("expected.json", "{}");
  const std::string gpu = path("gpu.jsonl");
  for (const std::vector<std::string>& gate :
       {std::vector<std::string>{"--fail-under", "correct=1"},
        {"--fail-under", "fast_1@ci=0"},
        {"--fail-on", "cheat"},
        {"--fail-on", "new-failure", "--against", gpu},
        {"--fail-on", "regression", "--against", gpu},
        {"--expect", path("expected.json")}}) {
    const auto result = report("nothing.jsonl", gate);
    EXPECT_EQ(result.status.code, kGate) << gate[1];
    EXPECT_THAT(error_lines(result), SizeIs(1)) << result.error;
  }
  EXPECT_EQ(report("gpu.jsonl", {"--expect", path("expected.json")}).status.code, kGate);
}

TEST_F(ReportCommand, ExpectedOutcomesAreWrittenAndHeldTo) {
  const std::string expected = path("expected.json");
  ASSERT_EQ(report("cpu.jsonl", {"--format", "expect=" + expected}).status.code, 0);
  const auto same = report("cpu.jsonl", {"--expect", expected, "--format", "csv"});
  EXPECT_EQ(same.status.code, 0) << same.error;
  folder_.write("expected.json", R"({"19_ReLU/0.cu": "correct", "2_Softmax/0.cu": "correct"})");
  const auto other = report("cpu.jsonl", {"--expect", expected, "--format", "csv"});
  EXPECT_EQ(other.status.code, kGate);
  EXPECT_THAT(other.error, HasSubstr("alpha/level1/19_ReLU/0.cu: mismatch, expected correct"));
  // The formats know of expectations too.
  folder_.write("expected.json", R"({"19_ReLU/0.cu": "mismatch", "2_Softmax/0.cu": "crash"})");
  EXPECT_THAT(report("cpu.jsonl", {"--expect", expected, "--format", "junit"}).output,
              AllOf(HasSubstr("expected_failure"), HasSubstr("unexpected_pass")));
  folder_.write("expected.json", "{");
  EXPECT_EQ(report("none.jsonl", {"--expect", expected}).status.code, kUsage)
      << "what is wrong with it is said before the run is read";
  EXPECT_THAT(report("none.jsonl", {"--expect", expected}).error, HasSubstr("expected.json"));
}

TEST_F(ReportCommand, AnOlderRunMayBeHeldAgainst) {
  RunFile later = samples::gpu_run();
  later.records[0] = samples::mismatch("alpha", "level1/2_Softmax", 0);
  write("later.jsonl", later);
  const auto broken = report("later.jsonl", {"--fail-on", "new-failure", "--against",
                                             path("gpu.jsonl"), "--format", "csv"});
  EXPECT_EQ(broken.status.code, kGate);
  EXPECT_THAT(broken.error, AllOf(HasSubstr("9 samples compared with " + path("gpu.jsonl")),
                                  HasSubstr("1 sample no longer correct"),
                                  HasSubstr("level1/2_Softmax alpha 0")));
  EXPECT_EQ(
      report("gpu.jsonl", {"--fail-on", "regression", "--against", path("gpu.jsonl")}).status.code,
      0);
  EXPECT_EQ(report("gpu.jsonl", {"--fail-on", "cheat"}).status.code, 0);
  EXPECT_EQ(report("gpu.jsonl", {"--fail-on", "regression"}).status.code, kUsage);
  EXPECT_EQ(report("gpu.jsonl", {"--against", path("gpu.jsonl")}).status.code, kUsage);
  EXPECT_EQ(
      report("gpu.jsonl", {"--fail-on", "regression", "--against", path("none.jsonl")}).status.code,
      kUsage);
}

TEST_F(ReportCommand, AFolderThatCannotBeWrittenIsSaid) {
  const auto result = report("gpu.jsonl", {"--format", "html=" + path("no/folder/report.html")});
  EXPECT_EQ(result.status.code, kUsage);
  EXPECT_THAT(result.error,
              AllOf(HasSubstr("no/folder/report.html"), HasSubstr("there is no folder")));
  // A wrong path is an error before a run is read, or made.
  EXPECT_THAT(report("none.jsonl", {"--format", "svg=" + path("gpu.jsonl")}).error,
              HasSubstr("that is not a folder"));
}

TEST_F(ReportCommand, ASelectionChoosesWhatCounts) {
  const auto level = report("gpu.jsonl", {"--select", "level=2", "--format", "json"});
  ASSERT_EQ(level.status.code, 0) << level.error;
  EXPECT_EQ(nlohmann::json::parse(level.output)["planned"], 4);
  const auto wrong = report("gpu.jsonl", {"--select", "outcome=mismatch", "--format", "json"});
  const auto whole = report("gpu.jsonl", {"--format", "json"});
  EXPECT_THAT(nlohmann::json::parse(wrong.output)["candidates"], SizeIs(2));
  EXPECT_EQ(nlohmann::json::parse(wrong.output)["summary"],
            nlohmann::json::parse(whole.output)["summary"]);
  EXPECT_EQ(report("gpu.jsonl", {"--select", "level=9"}).status.code, kUsage);
}

TEST_F(ReportCommand, WhatIsExportedIsChosenByThePlanAlone) {
  const auto exported = [&](const std::string& out, const std::string& selection) {
    return run_kbench({"export", path("gpu.jsonl"), "--format", "kernelbench", "--out", path(out),
                       "--select", selection},
                      {}, std::chrono::seconds(60));
  };
  const auto chosen = exported("one", "model=beta");
  EXPECT_EQ(chosen.status.code, 0) << chosen.error;
  EXPECT_TRUE(std::filesystem::exists(path("one/runs/beta_level1/eval_results.json")));
  EXPECT_FALSE(std::filesystem::exists(path("one/runs/alpha_level1/eval_results.json")));
  const auto nothing = exported("two", "level=9");
  EXPECT_EQ(nothing.status.code, kUsage);
  EXPECT_THAT(nothing.error, HasSubstr("matches nothing"));
  // A selection without failures would make a run look better than it is.
  const auto outcome = exported("three", "outcome=correct");
  EXPECT_EQ(outcome.status.code, kUsage);
  EXPECT_THAT(error_lines(outcome), SizeIs(1)) << outcome.error;
  EXPECT_FALSE(std::filesystem::exists(path("three")));
}

TEST_F(ReportCommand, TheStepSummaryOfActionsIsAppendedTo) {
  folder_.write("summary.md", "before\n");
  ::setenv("GITHUB_STEP_SUMMARY", path("summary.md").c_str(), 1);
  ::unsetenv("GITHUB_WORKSPACE");
  const auto result = report("gpu.jsonl", {"--format", "github"});
  ::unsetenv("GITHUB_STEP_SUMMARY");
  ASSERT_EQ(result.status.code, 0) << result.error;
  EXPECT_THAT(result.output, HasSubstr("::error file=alpha/level1/19_ReLU/1.cu"));
  EXPECT_THAT(contents(path("summary.md")),
              AllOf(testing::StartsWith("before\n# kbench: INCOMPLETE"), HasSubstr("## Failures")));
}

TEST_F(ReportCommand, AnnotationsHavePathsFromTheWorkspaceOfActions) {
  const auto here = std::filesystem::current_path();
  ::setenv("GITHUB_WORKSPACE", here.parent_path().c_str(), 1);
  const auto result = report("gpu.jsonl", {"--format", "github"});
  ::unsetenv("GITHUB_WORKSPACE");
  EXPECT_THAT(result.output, HasSubstr("::error file=" + here.filename().string() + "/alpha/"));
}

TEST_F(ReportCommand, TheTableForAPaperHasLevelsAndIntervalsIfAskedFor) {
  const auto result = report("gpu.jsonl", {"--format", "latex", "--latex", "levels,intervals"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  EXPECT_THAT(result.output, AllOf(HasSubstr("level 1 &"), HasSubstr("\\scriptsize")));
  EXPECT_THAT(report("gpu.jsonl", {"--format", "latex"}).output,
              AllOf(Not(HasSubstr("level 1 &")), Not(HasSubstr("\\scriptsize"))));
  EXPECT_THAT(report("gpu.jsonl", {"--latex", "level"}).error, HasSubstr("did you mean levels?"));
}

TEST_F(ReportCommand, ShowTellsOfOneCandidate) {
  const auto shown =
      run_kbench({"show", path("gpu.jsonl"), "19_ReLU/1", "--select", "model=alpha"});
  ASSERT_EQ(shown.status.code, 0) << shown.error;
  EXPECT_THAT(shown.output,
              AllOf(HasSubstr("mismatch, values  level1/19_ReLU alpha 1"), HasSubstr("a log"),
                    HasSubstr("first wrong: output 0 [3, 17]: expected 0.5, got 0.25")));
  const auto json = run_kbench({"show", path("gpu.jsonl"), "19_ReLU/1", "--format", "json"});
  const auto parsed = nlohmann::json::parse(json.output);
  ASSERT_THAT(parsed, SizeIs(2)) << "of two models";
  EXPECT_EQ(parsed[0]["details"]["log"], "a log\n");
  EXPECT_EQ(run_kbench({"show", path("gpu.jsonl"), "5_None"}).status.code, kUsage);
}

TEST_F(ReportCommand, ShowTellsOfWhatIsSelected) {
  const auto shown = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"show", path("gpu.jsonl")});
    return run_kbench(arguments);
  };
  const auto all = shown({"--select", "outcome=mismatch"});
  ASSERT_EQ(all.status.code, 0) << all.error;
  EXPECT_THAT(all.output, AllOf(HasSubstr("level1/19_ReLU alpha 1"),
                                HasSubstr("level1/19_ReLU beta 0"), Not(HasSubstr("Softmax"))));
  const auto one = shown({"19_ReLU", "--select", "outcome=mismatch", "--select", "model=beta"});
  EXPECT_THAT(one.output, AllOf(HasSubstr("19_ReLU beta 0"), Not(HasSubstr("alpha"))));
  EXPECT_THAT(shown({"--select", "outcome=cheat"}).error, HasSubstr("lists none of these"));
  EXPECT_THAT(shown({"--select", "model=betta"}).error, HasSubstr("did you mean beta?"));
  EXPECT_THAT(shown({}).error, HasSubstr("name a PROBLEM"));
}

TEST_F(ReportCommand, WhatIsMisspeltIsToldWhatItMayHaveBeen) {
  const std::string gpu = path("gpu.jsonl");
  const auto suggests = [&](const std::string& meant, const std::vector<std::string>& arguments) {
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, kUsage) << result.error;
    EXPECT_THAT(result.error, HasSubstr("did you mean " + meant + "?"));
    EXPECT_THAT(error_lines(result), SizeIs(1)) << result.error;
  };
  suggests("cheat", {"report", gpu, "--fail-on", "cheet"});
  suggests("alpha", {"report", gpu, "--select", "model=alpa"});
  suggests("compile", {"report", gpu, "--baseline", "compil"});
  suggests("clean", {"eval", "--require", "clen"});
  suggests("fp16", {"eval", "--precision", "fp61"});
  suggests("alpha", {"show", gpu, "19_ReLU", "--select", "model=alpga"});
  suggests("level1/2_Softmax", {"show", gpu, "Softmx"});
  suggests("level1/2_Softmax", {"show", gpu, "2_Softma"});
}

TEST_F(ReportCommand, WatchSaysHowARunStands) {
  const auto stopped = run_kbench({"watch", path("gpu.jsonl")});
  EXPECT_EQ(stopped.status.code, 0) << stopped.error;
  EXPECT_THAT(stopped.output,
              AllOf(HasSubstr("the run was interrupted"), HasSubstr("10/12"), HasSubstr("Newest"),
                    HasSubstr("alpha 3/6 correct"), HasSubstr("1 fault of kbench itself")));
  EXPECT_THAT(run_kbench({"watch", path("cpu.jsonl")}).output, HasSubstr("the run has ended"));
  EXPECT_EQ(run_kbench({"watch", path("none.jsonl")}).status.code, kUsage);
}

TEST_F(ReportCommand, WatchFollowsARunToItsEnd) {
  RunWriter writer(path("live.jsonl"), false);
  writer.write(samples::header("cpu"));
  writer.write(std::vector{samples::planned("alpha", "level1/19_ReLU", 1, 0),
                           samples::planned("alpha", "level1/19_ReLU", 1, 1)});
  auto watched = std::async(std::launch::async, [&] {
    return run_kbench({"watch", path("live.jsonl"), "--interval", "0.05"}, {},
                      std::chrono::seconds(60));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  writer.write(samples::correct("alpha", "level1/19_ReLU", 0), nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  writer.write(samples::mismatch("alpha", "level1/19_ReLU", 1), nullptr);
  writer.write_end("5ec7e7", true);
  const CommandResult result = watched.get();
  EXPECT_EQ(result.status.code, 0) << result.error;
  EXPECT_THAT(result.output, AllOf(HasSubstr("0/2, 0 correct"), HasSubstr("1/2, 1 correct"),
                                   HasSubstr("2/2, 100 %"), HasSubstr("the run has ended"),
                                   HasSubstr("first wrong")));
}

}  // namespace
}  // namespace kbench::test
