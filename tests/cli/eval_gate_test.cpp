// SPDX-License-Identifier: MIT
// Gates of `kbench eval` on candidates that the run does not judge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"
#include "os/find_program.hpp"

namespace kbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kGate = 3;

/// A problem set with two problems, and a folder of candidates.
class EvalGate : public testing::Test {
 protected:
  EvalGate() {
    folder_.write("set/level1/1_AddOne.py", add_one_problem(1000));
    folder_.write("set/level1/2_AddOne.py", add_one_problem(1000));
    folder_.write("kernels/1_AddOne/0.cu", add_one_kernel());
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  CommandResult eval(std::vector<std::string> more) const {
    std::filesystem::remove(path("run.jsonl"));
    std::vector<std::string> arguments{"eval",         "--problems",    path("set"),
                                       "--candidates", path("kernels"), "--device",
                                       "cpu",          "--out",         path("run.jsonl")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_kbench(arguments);
  }

  TempFolder folder_;
};

TEST_F(EvalGate, FailsForACandidateOfNoProblem) {
  folder_.write("kernels/2_AdOne/0.cu", add_one_kernel());
  folder_.write("expected.json", R"({"*": "correct"})");
  const auto sentence =
      AllOf(HasSubstr("kbench: 1 candidate belongs to no problem of the run: "),
            HasSubstr("2_AdOne/0.cu; a gate needs a verdict on each candidate\n"));
  for (const std::vector<std::string>& gate :
       {std::vector<std::string>{"--fail-under", "correct=1"},
        {"--fail-on", "cheat"},
        {"--expect", path("expected.json")}}) {
    std::vector<std::string> arguments = gate;
    arguments.insert(arguments.end(), {"--format", "junit"});
    const auto failed = eval(arguments);
    EXPECT_EQ(failed.status.code, kGate) << gate[0];
    EXPECT_THAT(failed.error, sentence);
    EXPECT_THAT(failed.output, AllOf(HasSubstr("tests=\"2\" failures=\"1\""),
                                     HasSubstr("<failure type=\"no_problem\"")));
  }
  const std::string run = path("run.jsonl");
  const auto later = run_kbench({"report", run, "--fail-on", "cheat"});
  EXPECT_EQ(later.status.code, kGate);
  EXPECT_THAT(later.error, sentence);
  EXPECT_EQ(run_kbench({"report", run, "--fail-on", "cheat", "--select", "level=1"}).status.code,
            0);
  EXPECT_EQ(
      run_kbench({"report", run, "--fail-on", "cheat", "--select", "outcome=correct"}).status.code,
      kGate)
      << "what is listed changes no gate";
  EXPECT_EQ(eval({}).status.code, 0) << "without a gate";
}

TEST_F(EvalGate, TakesWhatWasNarrowedOnPurpose) {
  folder_.write("kernels/2_AddOne/0.cu", add_one_kernel());
  folder_.write("expected.json", R"({"1_AddOne/0.cu": "correct", "2_AddOne/0.cu": "crash"})");
  const auto narrowed =
      eval({"1_AddOne", "--fail-under", "correct=1", "--expect", path("expected.json"), "--quiet"});
  EXPECT_EQ(narrowed.status.code, 0) << narrowed.error;
}

TEST_F(EvalGate, ExpectsNothingOfWhatDidNotChange) {
  const auto git = find_program("git");
  if (!git) GTEST_SKIP() << "there is no git";
  folder_.write("kernels/1_AddOne/1.cu", "//@ problem 1_AddOne\n");
  folder_.write("kernels/2_AddOne/0.cu", add_one_kernel());
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"init", "--quiet"}, {"add", "kernels"}, {"commit", "--quiet", "-m", "one"}}) {
    std::vector<std::string> command = {git->string(), "-C", path(""),        "-c",
                                        "user.name=a", "-c", "user.email=a@b"};
    command.insert(command.end(), words.begin(), words.end());
    ASSERT_TRUE(run_command({command, {}, {}}, std::chrono::seconds(60)).is_success());
  }
  const std::string expected = path("expected.json");
  ASSERT_EQ(eval({"--format", "expect=" + expected}).status.code, 0);
  folder_.write("kernels/1_AddOne/a_new.cu", add_one_kernel());
  const auto right = eval({"--changed-since", "HEAD", "--expect", expected});
  EXPECT_EQ(right.status.code, 0) << right.error;
  EXPECT_EQ(run_kbench({"report", path("run.jsonl"), "--expect", expected}).status.code, 0);
  folder_.write("kernels/1_AddOne/a_new.cu", "//@ problem 1_AddOne\n");
  const auto wrong = eval({"--changed-since", "HEAD", "--expect", expected});
  EXPECT_EQ(wrong.status.code, kGate);
  EXPECT_THAT(wrong.error, AllOf(HasSubstr("a_new.cu: "), HasSubstr(", expected correct"),
                                 Not(HasSubstr("0.cu"))));
}

}  // namespace
}  // namespace kbench::test
