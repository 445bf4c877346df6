// SPDX-License-Identifier: MIT
// kbench.toml and KBENCH_PROBLEMS.
#include "cli/options/configuration.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/test_folder.hpp"
#include "cli/commands.hpp"
#include "kbench/error.hpp"

namespace kbench::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Parses command lines in the folder work/deep, below a kbench.toml.
class ConfigurationFile : public testing::Test {
 protected:
  ConfigurationFile() : before_(fs::current_path()) {
    scratch_.write("work/deep/file", "");
    fs::current_path(scratch_ / "work/deep");
    ::unsetenv("KBENCH_PROBLEMS");
  }
  ~ConfigurationFile() override {
    ::unsetenv("KBENCH_PROBLEMS");
    fs::current_path(before_);
  }

  void write(std::string_view toml) { scratch_.write("work/kbench.toml", toml); }

  /// Parses a command line of `eval` or `list`; gives what was said on stderr.
  std::string parse(const std::string& line) {
    app_ = std::make_unique<CLI::App>();
    commands_ = {add_eval(*app_), add_list(*app_)};
    app_->parse(line);
    testing::internal::CaptureStderr();
    try {
      apply_configuration(*app_->get_subcommands().front(), *app_->get_subcommand("eval"));
    } catch (const UsageError& error) {
      testing::internal::GetCapturedStderr();
      return error.what();
    }
    return testing::internal::GetCapturedStderr();
  }
  std::vector<std::string> values(const char* option) const {
    return app_->get_subcommands().front()->get_option(option)->results();
  }

  test::ScratchFolder scratch_;
  fs::path before_;
  std::unique_ptr<CLI::App> app_;
  std::vector<Subcommand> commands_;  ///< they own the variables of the options
};

TEST_F(ConfigurationFile, SetsOptionsAndSaysSo) {
  write(
      "# for this repository\nproblems = \"../KernelBench\"\ncandidates = [\"a=runs/a\", "
      "\"runs/b\"]\ndevice = \"cuda:0,1\"\ntrials = 7\nall-trials = true\nno-reuse = true\n");
  EXPECT_EQ(parse("eval"),
            "kbench: ../kbench.toml sets problems = ../../KernelBench; candidates = a=../runs/a, "
            "../runs/b; device = cuda:0,1; trials = 7; all-trials = true; no-reuse = true\n");
  EXPECT_THAT(values("--problems"), ElementsAre("../../KernelBench"));
  EXPECT_THAT(values("--candidates"), ElementsAre("a=../runs/a", "../runs/b"));
  EXPECT_THAT(values("--device"), ElementsAre("cuda:0,1"));
  EXPECT_THAT(values("--trials"), ElementsAre("7"));
  EXPECT_THAT(values("--all-trials"), ElementsAre("true"));
  EXPECT_THAT(values("--no-reuse"), ElementsAre("false"));
}

TEST_F(ConfigurationFile, TheNearestFileCounts) {
  write("trials = 7\n");
  scratch_.write("work/deep/kbench.toml", "trials = 8\n");
  EXPECT_EQ(parse("eval"), "kbench: kbench.toml sets trials = 8\n");
  EXPECT_THAT(values("--trials"), ElementsAre("8"));
}

TEST_F(ConfigurationFile, TheCommandLineBeatsTheEnvironmentAndThatTheFile) {
  write("problems = \"file\"\ntrials = 7\n");
  EXPECT_THAT(parse("eval --trials 3"), Not(HasSubstr("trials")));
  EXPECT_THAT(values("--trials"), ElementsAre("3"));
  EXPECT_THAT(values("--problems"), ElementsAre("../file"));
  ::setenv("KBENCH_PROBLEMS", "environment", 1);
  EXPECT_THAT(parse("eval"), Not(HasSubstr("problems")));
  EXPECT_THAT(values("--problems"), ElementsAre("environment"));
  EXPECT_EQ(parse("eval --problems typed --trials 3"), "") << "the file changes nothing";
  EXPECT_THAT(values("--problems"), ElementsAre("typed"));
}

TEST_F(ConfigurationFile, OtherCommandsTakeTheProblemsOnly) {
  write("problems = \"set\"\ntrials = 7\ndevice = \"cuda:0\"\n");
  EXPECT_EQ(parse("list"), "kbench: ../kbench.toml sets problems = ../set\n");
  EXPECT_THAT(values("--problems"), ElementsAre("../set"));
  EXPECT_THAT(values("--device"), IsEmpty());
}

TEST_F(ConfigurationFile, MistakesAreToldWithFileAndLine) {
  const auto told = [&](std::string_view toml) {
    write(toml);
    return parse("eval");
  };
  EXPECT_EQ(told("# a comment\n\ntrails = 7\n"),
            "../kbench.toml, line 3: kbench eval has no option --trails; did you mean trials?");
  EXPECT_THAT(told("trials = 0\n"), AllOf(HasSubstr("line 1: "), HasSubstr("--trials")));
  EXPECT_THAT(told("device = \"cpu\"\n[eval]\ntrials = 7\n"),
              HasSubstr("line 2: there are no sections"));
  EXPECT_THAT(told("trials = 7\nseed = 1\ntrials = 8\n"), HasSubstr("trials is set twice"));
  EXPECT_THAT(told("device = \"cpu\"\nno-sandbox = true\n"),
              HasSubstr("line 2: --no-sandbox is only taken from the command line"));
  EXPECT_THAT(told("help = true\n"), HasSubstr("only taken from the command line"));
}

}  // namespace
}  // namespace kbench::cli
