// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/kbench_process.hpp"
#include "record/run_log_fixture.hpp"
#include "report/comparison_samples.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class Compare : public testing::Test {
 protected:
  void SetUp() override {
    const auto [before, after] = samples::changed_runs();
    write("before.jsonl", before);
    write("after.jsonl", after);
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  void write(const std::string& name, const RunFile& run) const {
    RunWriter writer(path(name), false);
    writer.write(run.headers.at(0));
    writer.write(run.manifest);
    for (const Record& record : run.records) writer.write(record, nullptr);
    if (run.ended) writer.write_end("5ec7e7", true);
  }

  CommandResult compare(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "compare");
    return run_kbench(arguments, {}, std::chrono::seconds(60));
  }

  TempFolder folder_;
};

TEST_F(Compare, ShowsWhatChangedAndEndsWith0) {
  const auto result = compare({path("before.jsonl"), path("after.jsonl")});
  EXPECT_EQ(result.status.code, 0) << result.error;
  EXPECT_THAT(result.error, IsEmpty());
  EXPECT_THAT(result.output, HasSubstr("slower"));
  EXPECT_THAT(result.output, HasSubstr("level1/6_Broken"));
  EXPECT_THAT(result.output, Not(HasSubstr("\x1b")));
}

TEST_F(Compare, TheGateEndsWith3AndSaysWhy) {
  const auto failed =
      compare({path("before.jsonl"), path("after.jsonl"), "--fail-on", "regression=5%"});
  EXPECT_EQ(failed.status.code, 3);
  EXPECT_THAT(failed.error, HasSubstr("2 regressions"));
  EXPECT_THAT(failed.output, HasSubstr("regression"));
  const auto passed =
      compare({path("before.jsonl"), path("before.jsonl"), "--fail-on", "regression"});
  EXPECT_EQ(passed.status.code, 0) << passed.error;
  // In reverse order, the broken sample is fixed, and the fixed one is broken.
  const auto reversed =
      compare({path("after.jsonl"), path("before.jsonl"), "--fail-on", "regression"});
  EXPECT_EQ(reversed.status.code, 3);
  EXPECT_THAT(reversed.error, HasSubstr("level1/5_Fixed"));
}

TEST_F(Compare, WritesEveryFormatAtOnce) {
  const auto result =
      compare({path("before.jsonl"), path("after.jsonl"), "--format", "json", "--format",
               "csv=" + path("c.csv"), "--format", "markdown=" + path("c.md")});
  EXPECT_EQ(result.status.code, 0) << result.error;
  EXPECT_THAT(nlohmann::json::parse(result.output).at("samples"), SizeIs(9));
  EXPECT_THAT(contents(path("c.csv")), StartsWith("run,file,problem"));
  EXPECT_THAT(contents(path("c.md")), HasSubstr("| slower |"));
}

TEST_F(Compare, ThreeRunsAreComparedWithTheFirst) {
  const auto result = compare({path("before.jsonl"), path("after.jsonl"), path("before.jsonl")});
  EXPECT_EQ(result.status.code, 0) << result.error;
  EXPECT_THAT(result.output, HasSubstr("B compared with A"));
  EXPECT_THAT(result.output, HasSubstr("C compared with A"));
}

TEST_F(Compare, ASelectionChoosesWhatIsComparedAndWhatIsListed) {
  const auto compared = [&](const std::string& selection) {
    const auto result = compare(
        {path("before.jsonl"), path("after.jsonl"), "--format", "json", "--select", selection});
    EXPECT_EQ(result.status.code, 0) << result.error;
    return nlohmann::json::parse(result.output);
  };
  const auto planned = compared("problem=6_Broken");
  EXPECT_THAT(planned.at("samples"), SizeIs(1));
  EXPECT_EQ(planned.at("summary")[0].at("in_both"), 1);
  // These samples were right in one of the two runs.
  const auto listed = compared("outcome!=correct");
  EXPECT_EQ(listed.at("summary")[0].at("in_both"), 9);
  std::vector<std::string> problems;
  for (const auto& sample : listed.at("samples")) problems.push_back(sample.at("problem"));
  EXPECT_THAT(problems, Contains("level1/6_Broken"));
  EXPECT_THAT(problems, Contains("level1/5_Fixed"));
  EXPECT_THAT(problems.size(), testing::Lt(9));
  const auto console =
      compare({path("before.jsonl"), path("after.jsonl"), "--select", "outcome!=correct"});
  EXPECT_THAT(console.output, HasSubstr("--select outcome!=correct"));
  EXPECT_THAT(console.output, HasSubstr("level1/6_Broken"));
}

TEST_F(Compare, MistakesAreToldInOneSentence) {
  const auto mistake = [&](std::vector<std::string> arguments) {
    const auto result = compare(std::move(arguments));
    EXPECT_EQ(result.status.code, 2);
    EXPECT_THAT(error_lines(result), SizeIs(1)) << result.error;
    return result.error;
  };
  EXPECT_THAT(mistake({path("before.jsonl")}), HasSubstr("two run files"));
  EXPECT_THAT(mistake({path("before.jsonl"), path("none.jsonl")}), HasSubstr("none.jsonl"));
  EXPECT_THAT(mistake({path("before.jsonl"), path("after.jsonl"), "--format", "pdf"}),
              HasSubstr("pdf"));
  EXPECT_THAT(mistake({path("before.jsonl"), path("after.jsonl"), "--fail-on", "slowness"}),
              HasSubstr("slowness"));
  EXPECT_THAT(mistake({path("before.jsonl"), path("after.jsonl"), "--select", "level=9"}),
              HasSubstr("matches nothing in"));
  EXPECT_THAT(mistake({path("before.jsonl"), path("after.jsonl"), "--select", "modle=a"}),
              HasSubstr("did you mean"));
  EXPECT_THAT(mistake({}), HasSubstr("RUN is required"));
}

}  // namespace
}  // namespace kbench::test
