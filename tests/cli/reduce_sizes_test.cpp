// SPDX-License-Identifier: MIT
// Problems that are too large for a CPU run at reduced sizes, and all outputs say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// A linear layer; 512 MiB of inputs and outputs, 64 MiB of weights.
constexpr const char* kLinear = R"(import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.fc = nn.Linear(features, features)
    def forward(self, x):
        return self.fc(x)
rows, features = 16384, 4096
def get_inputs():
    return [torch.rand(rows, features)]
def get_init_inputs():
    return [features]
)";

/// A candidate in the usual form, with sizes of its own, which kbench ignores.
std::string linear_answer(const std::string& features) {
  return R"(import torch
import torch.nn as nn
class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.fc = nn.Linear()" +
         features + ", " + features + R"()
    def forward(self, x):
        return self.fc(x)
rows, features = 16384, 4096
def get_inputs():
    return [torch.rand(rows, features)]
)";
}

class ReduceSizes : public testing::Test {
 protected:
  void SetUp() override { folder_.write("set/level1/1_Linear.py", kLinear); }
  std::string set() const { return (folder_.path() / "set").string(); }
  std::filesystem::path out() const { return folder_.path() / "run.jsonl"; }

  /// The first problem's sizes from `kbench list`.
  json listed(std::vector<std::string> more) {
    std::vector<std::string> arguments{"list", set(), "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, 0) << result.error;
    return json::parse(result.output).at("problems").at(0);
  }
  CommandResult eval(std::vector<std::string> more) {
    std::vector<std::string> arguments{
        "eval",     set(), "--candidates", (folder_.path() / "candidates").string(),
        "--device", "cpu", "--out",        out().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_kbench(arguments);
  }
  /// The run's report in another format.
  std::string report(const std::string& format) {
    const auto result = run_kbench({"report", out().string(), "--format", format});
    EXPECT_EQ(result.status.code, 0) << result.error;
    return result.output;
  }

  TempFolder folder_;
};

TEST_F(ReduceSizes, ListShowsTheSizesThatARunWouldHave) {
  const json reduced = listed({"--device", "cpu"});
  EXPECT_EQ(reduced.at("sizes"), (json{{"rows", "256"}, {"features", "256"}}));
  EXPECT_EQ(reduced.at("reduced_sizes").at("within"), true);
  EXPECT_EQ(reduced.at("reduced_sizes").at("full_bytes"),
            2.0 * (256 << 20) + (64 << 20) + 4 * 4096);
  const json file{{"rows", "16384"}, {"features", "4096"}};
  EXPECT_EQ(listed({"--device", "cpu", "--full-sizes"}).at("sizes"), file);
  EXPECT_EQ(listed({"--device", "cuda"}).at("sizes"), file);
  EXPECT_FALSE(listed({"--device", "cuda"}).contains("reduced_sizes"));
  EXPECT_EQ(listed({"--device", "cuda", "--reduce-sizes"}).at("sizes"), reduced.at("sizes"));
  EXPECT_EQ(listed({"--device", "cpu", "--set", "features=1024"}).at("sizes"),
            (json{{"rows", "16"}, {"features", "1024"}}));
  const auto text = run_kbench({"list", set(), "--device", "cpu"});
  EXPECT_THAT(text.output, HasSubstr("1 problem at reduced sizes (--reduce-sizes)\n"));
  folder_.write("set/sizes.json", R"({"level1/1_Linear": {"cpu": {"rows": 20000}}})");
  EXPECT_EQ(listed({"--device", "cpu"}).at("sizes"),
            (json{{"rows", "20000"}, {"features", "4096"}}));
}

TEST_F(ReduceSizes, RecordsAndReportsSayTheSizes) {
  folder_.write("candidates/me/1_Linear/a.py", linear_answer("features"));
  folder_.write("candidates/me/1_Linear/b.py", linear_answer("4096"));
  const auto result = eval({"--reduce-sizes=256KiB", "--trials", "2"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  EXPECT_THAT(result.output, HasSubstr("1 problem at reduced sizes (--reduce-sizes)"));
  const auto run = read_run(out());
  EXPECT_EQ(run.headers.at(0).options.at("reduce_sizes"),
            (json{{"when", "on"}, {"max_bytes", 262144.0}, {"max_flops", 50e6}}));
  ASSERT_THAT(run.records, SizeIs(2));
  const Record& right = run.records[0];
  EXPECT_EQ(right.outcome, Outcome::kCorrect) << right.message;
  EXPECT_EQ(json::parse(right.sizes.str()), (json{{"rows", "128"}, {"features", "128"}}));
  ASSERT_TRUE(right.reduced_sizes);
  EXPECT_LE(right.reduced_sizes->bytes, 262144);
  EXPECT_TRUE(right.reduced_sizes->within);
  // The candidate is right only at the full size.
  EXPECT_NE(run.records[1].outcome, Outcome::kCorrect);
  for (const char* format : {"markdown", "json"})
    EXPECT_THAT(report(format), AllOf(HasSubstr("1 problem at reduced sizes"),
                                      testing::ContainsRegex(R"(reduced\\?_sizes)")));
  EXPECT_THAT(report("csv"), HasSubstr(",features=128 rows=128,1,"));

  const auto again = eval({"--reduce-sizes=256KiB", "--trials", "2", "--resume"});
  EXPECT_THAT(again.error, HasSubstr("2 candidates have their verdict already; 0 are left"));
  const auto other = eval({"--reduce-sizes=64KiB", "--trials", "2", "--resume"});
  EXPECT_THAT(other.error, Not(HasSubstr("verdict already")));
}

TEST_F(ReduceSizes, WhatStaysFarTooLargeIsNoCandidatesFault) {
  folder_.write("set/level1/1_Linear.py", R"(import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x @ x
def get_inputs():
    return [torch.rand(6000, 6000)]
)");
  folder_.write("candidates/me/1_Linear/a.py", "class ModelNew: pass\n");
  const auto result = eval({});
  ASSERT_EQ(result.status.code, 0) << result.error;
  EXPECT_THAT(
      result.output,
      HasSubstr("above the limits of --reduce-sizes: level1/1_Linear (275 MiB and 432 GFLOP)"));
  const auto run = read_run(out());
  ASSERT_THAT(run.records, SizeIs(1));
  EXPECT_EQ(run.records[0].outcome, Outcome::kProblemFailure);
  EXPECT_EQ(run.records[0].cause, "too_large_for_cpu");
  EXPECT_THAT(run.records[0].message, HasSubstr("--full-sizes"));
}

TEST_F(ReduceSizes, LimitsThatAreNoneAreUsage) {
  for (const char* argument : {"--reduce-sizes=lots", "--reduce-sizes=1M,", "--full-sizes=what"}) {
    const auto result = run_kbench({"eval", set(), argument});
    EXPECT_EQ(result.status.code, 2) << argument;
    EXPECT_THAT(result.error, HasSubstr("--reduce-sizes=16MiB")) << argument;
  }
}

}  // namespace
}  // namespace kbench::test
