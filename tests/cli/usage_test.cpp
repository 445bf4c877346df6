// SPDX-License-Identifier: MIT
// Each mistake on the command line gives exit code 2 and one clear sentence on stderr, and loses no
// file.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

struct Mistake {
  std::string name;
  std::vector<std::string> arguments;
  std::string words;  ///< a part of the message
};

class Usage : public testing::TestWithParam<Mistake> {};

TEST_P(Usage, IsToldInOneSentence) {
  const TempFolder folder;
  folder.write("level1/1_NoModel.py", "x = 1\n");
  folder.write("level1/2_AddOne.py", add_one_problem(10));
  folder.write("candidate.cu", add_one_kernel());
  folder.write("readonly/run.jsonl", "");
  auto arguments = GetParam().arguments;
  for (auto& argument : arguments) {
    const auto at = argument.find("DIR");
    if (at != std::string::npos) argument.replace(at, 3, folder.path().string());
  }
  const auto result = run_kbench(arguments, {}, std::chrono::seconds(60));
  EXPECT_FALSE(result.status.signaled);
  EXPECT_EQ(result.status.code, 2) << result.output << result.error;
  const auto lines = error_lines(result);
  ASSERT_THAT(lines, SizeIs(1)) << result.error;
  EXPECT_THAT(lines[0], HasSubstr(GetParam().words));
  EXPECT_TRUE(result.output.empty()) << result.output;
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, Usage,
    testing::Values(
        Mistake{"MissingProblem", {"eval", "DIR/level1/9_Nothing.py"}, "9_Nothing"},
        Mistake{"UnknownName", {"eval", "level1/softmux"}, "softmux"},
        Mistake{"NoModel", {"eval", "DIR/level1/1_NoModel.py"}, "Model"},
        Mistake{"MissingCandidates", {"eval", "--candidates", "DIR/nothing"}, "nothing"},
        Mistake{
            "CandidateOfNoProblem", {"eval", "--candidates", "DIR/candidate.cu"}, "candidate.cu"},
        Mistake{"CandidateAlone", {"eval", "--candidate", "DIR/candidate.cu"}, "--problem"},
        Mistake{"UnknownOption", {"eval", "--fast"}, "--fast"},
        Mistake{"UnknownCommand", {"evaluate"}, "evaluate"},
        Mistake{"HelpOfNoCommand", {"help", "evaluate"}, "evaluate"},
        Mistake{"NoEarlierRun", {"eval", "--reuse-from", "DIR/none.jsonl"}, "none.jsonl"},
        Mistake{"EarlierRunInAStream",
                {"eval", "--candidates", "-", "--reuse-from", "DIR/run.jsonl"},
                "cannot be combined with --candidates -"},
        Mistake{"NotInGit",
                {"eval", "--problem", "DIR/level1/2_AddOne.py", "--candidate", "DIR/candidate.cu",
                 "--changed-since", "main"},
                "--changed-since main"},
        Mistake{"UnknownDevice", {"eval", "--device", "tpu", "--out", "DIR/o.jsonl"}, "tpu"},
        Mistake{"NoSuchGpu", {"eval", "--device", "cuda:97", "--out", "DIR/o.jsonl"}, "cuda:97"},
        Mistake{"CompatOfAKernel",
                {"eval", "--kb-compat", "--candidate", "DIR/candidate.cu", "--problem",
                 "DIR/level1/2_AddOne.py"},
                "candidate.cu is not a module"},
        Mistake{"CompatOfTheShippedCandidates", {"eval", "--kb-compat"}, "is not a module"},
        Mistake{"CompatWithASeed", {"eval", "--kb-compat", "--seed", "1"}, "--seed"},
        Mistake{"CompatWithTf32", {"eval", "--kb-compat", "--precision", "tf32"}, "tf32"},
        Mistake{"UnknownFormat", {"eval", "--format", "pdf"}, "pdf"},
        Mistake{"UnknownMetric", {"eval", "--fail-under", "glory=1"}, "glory"},
        Mistake{"SpeedGateOnTheCpu",
                {"eval", "--device", "cpu", "--fail-under", "fast_1=0.5", "--out", "DIR/o.jsonl"},
                "needs the times of a GPU"},
        Mistake{"UnknownBaseline", {"eval", "--baseline", "numpy"}, "numpy"},
        Mistake{"BaselineTwice",
                {"eval", "--baseline", "eager,eager", "--device", "cpu", "--out", "DIR/o.jsonl"},
                "eager twice"},
        Mistake{"UnknownTiming", {"eval", "--timing", "sundial"}, "sundial"},
        Mistake{"ProfileOfAGpu", {"eval", "--profile=ncu", "--device", "cpu"}, "ncu"},
        Mistake{"UnknownProfile", {"eval", "--profile=perf", "--device", "cpu"}, "perf"},
        Mistake{"UnknownPrecision", {"eval", "--precision", "fp4"}, "fp4"},
        Mistake{
            "UnknownConstant",
            {"eval", "DIR/level1/2_AddOne.py", "--candidates", "DIR/candidate.cu", "--set", "Q=1"},
            ""},
        Mistake{"FaultyShard", {"eval", "--shard", "4/4", "--out", "DIR/o.jsonl"}, "4/4"},
        Mistake{"NegativeTrials", {"eval", "--trials", "-1"}, "trials"},
        Mistake{"NoTime", {"eval", "--timeout", "soon"}, "--timeout: soon is not a number above"},
        Mistake{"NegativeBudget", {"eval", "--max-instructions", "-3"}, "-3 is not a number above"},
        Mistake{"OutInNoFolder",
                {"eval", "--device", "cpu", "--out", "DIR/no/folder/run.jsonl"},
                "no/folder"},
        Mistake{"OutIsNoRunFile",
                {"eval", "--device", "cpu", "--resume", "--out", "DIR/candidate.cu"},
                "candidate.cu"},
        Mistake{"StreamMixed", {"eval", "--candidates", "-", "--candidates", "DIR"}, "other"},
        Mistake{"StreamReportToOutput",
                {"eval", "--candidates", "-", "--format", "junit"},
                "standard output carries the records"},
        Mistake{"StreamResumesNothing",
                {"eval", "--candidates", "-", "--resume"},
                "--resume with --candidates - needs the run file"},
        Mistake{"StreamGateOfNoLevel",
                {"eval", "DIR/level1/2_AddOne.py", "--candidates", "-", "--device", "cpu",
                 "--fail-under", "level7.correct=1"},
                "no problem of level 7"},
        Mistake{"ReportIsAFolder", {"eval", "--format", "json=DIR"}, "names a folder"},
        Mistake{"ReportMissing", {"report", "DIR/none.jsonl"}, "none.jsonl"},
        Mistake{"ReportOfNoRun", {"report", "DIR/candidate.cu"}, "candidate.cu"},
        Mistake{"ImportOfNothing", {"import", "DIR/none"}, "there is no run folder"},
        Mistake{"ImportOfNoRun", {"import", "DIR/level1", "--out", "DIR/o.jsonl"}, "has no eval_"},
        Mistake{"ImportAtNoPrecision", {"import", "DIR", "--precision", "fp4"}, "fp4"},
        Mistake{"ExportOfNoRun",
                {"export", "DIR/none.jsonl", "--format", "kernelbench", "--out", "DIR/out"},
                "none.jsonl"},
        Mistake{"ExportToUnknown",
                {"export", "DIR/none.jsonl", "--format", "excel", "--out", "DIR/out"},
                "there is no export to \"excel\""},
        Mistake{
            "ExportToNowhere", {"export", "DIR/none.jsonl", "--format", "kernelbench"}, "--out"},
        Mistake{"ListUnknown", {"list", "DIR/level9"}, "level9"}),
    [](const auto& test) { return test.param.name; });

TEST(Help, IsOfKbenchOrOfACommand) {
  const auto help_of = [](const std::vector<std::string>& arguments) {
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, 0) << result.error;
    EXPECT_TRUE(result.error.empty()) << result.error;
    return result.output;
  };
  const std::string whole = help_of({"--help"});
  EXPECT_THAT(whole, HasSubstr("Usage: kbench COMMAND"));
  EXPECT_EQ(help_of({}), whole);
  EXPECT_EQ(help_of({"help"}), whole);
  EXPECT_EQ(help_of({"help", "report"}), help_of({"report", "--help"}));
  EXPECT_THAT(help_of({"eval", "--help-all"}), HasSubstr("--nvcc-timeout"));
  EXPECT_FALSE(help_of({"--version"}).empty());
}

TEST(Usage, WhereNothingCanBeSaidTheExitCodeStillFits) {
  const TempFolder folder;
  folder.write("set/level1/2_AddOne.py", add_one_problem(10));
  folder.write("candidates/2_AddOne.cu", add_one_kernel());
  std::string environment = "env";
  for (const auto& [name, value] : test_environment())
    environment += fmt::format(" {}={}", name, value);
  const auto code_of = [&](const std::string& arguments) {
    const int status = std::system(
        (environment + " " + KBENCH_BIN_DIR + "/kbench " + arguments + " 2>/dev/full >/dev/null")
            .c_str());
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(code_of("eval no_such_problem"), 2);
  const std::string path = folder.path().string();
  EXPECT_EQ(code_of("eval " + path + "/set --candidates " + path + "/candidates --device cpu" +
                    " --timing none --out " + path + "/run.jsonl"),
            0);
  EXPECT_THAT(read_run(folder.path() / "run.jsonl").records, SizeIs(1));
}

}  // namespace
}  // namespace kbench::test
