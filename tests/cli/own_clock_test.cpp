// SPDX-License-Identifier: MIT
// Processes that lie about their times: the judge's own clock takes all of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"
#include "record/run_log_fixture.hpp"

namespace kbench::test {
namespace {

namespace fs = std::filesystem;

const fs::path kCheats = fs::path(KBENCH_SOURCE_DIR) / "tests" / "hostile" / "cheats";

std::string sleeping_matmul(const char* seconds) {
  return fmt::format(R"(import time
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        time.sleep({})
        return a @ b
)",
                     seconds);
}

/// Judges cheats and honest candidates for shipped problems, in one run with these options.
JudgedRun run_of(const std::vector<std::string>& cheats,
                 const std::map<std::string, std::string>& others,
                 const std::vector<std::string>& options = {}) {
  const fs::path problems = fs::path(KBENCH_SOURCE_DIR) / "problems";
  std::map<std::string, std::string> files{{"set/sizes.json", contents(problems / "sizes.json")}};
  for (const char* level : {"level1", "level2", "level3"})
    for (const auto& file : fs::directory_iterator(problems / level))
      if (file.is_regular_file())
        files["set" / file.path().lexically_relative(problems)] = contents(file.path());
  for (const std::string& place : cheats)
    files["candidates/me/" + place] = contents(kCheats / place);
  for (const auto& [place, text] : others) files["candidates/me/" + place] = text;
  return JudgedRun(files, options);
}

/// A run without options.
const JudgedRun& plain_run() {
  static const JudgedRun kRun =
      run_of({"5_Matmul/03_clock_overwritten.py", "2_RowNorm/03_patched_libc.cu",
              "9_CumulativeSum/04_rewritten_message.cu"},
             // A call so long that the machine's other work is only a small part of it.
             {{"5_Matmul/honest.py", sleeping_matmul("0.1")},
              {"2_RowNorm/thread_per_row.cu",
               contents(fs::path(KBENCH_SOURCE_DIR) /
                        "problems/candidates/right/naive/2_RowNorm/thread_per_row.cu")}});
  return kRun;
}

/// The record of a candidate, after a check that it is correct and timed.
const Record& judged(const std::string& file, const JudgedRun& run = plain_run()) {
  const Record& record = run.of(file);
  EXPECT_EQ(to_string(record.outcome), "correct") << record.cause.str() << ": " << record.message;
  EXPECT_TRUE(record.timing);
  return record;
}

double time_ms(const Record& record) { return record.timing->sides.at("candidate").median_ms; }

struct Forger {
  const char* file;
  double truth_ms;  ///< the least time of its sleep
};

class Forgers : public testing::TestWithParam<Forger> {};

TEST_P(Forgers, AreNotBelieved) {
  const auto& [file, truth_ms] = GetParam();
  const Record record = judged(file);
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->method, "wall");
  EXPECT_EQ(record.timing->trust, "own_clock");
  EXPECT_GT(time_ms(record), truth_ms);
  EXPECT_LT(time_ms(record), truth_ms * 30) << "this machine is slow, but not so slow";
}

INSTANTIATE_TEST_SUITE_P(OwnClock, Forgers,
                         testing::Values(Forger{"03_clock_overwritten.py", 3},
                                         Forger{"03_patched_libc.cu", 5}),
                         [](const auto& forger) {
                           return fs::path(forger.param.file).stem().string();
                         });

TEST(OwnClock, NoMessageOfAProcessHasATimeThatCounts) {
  const Record record = judged("04_rewritten_message.cu");
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->trust, "own_clock");
  // A message takes longer than the thousandth of a call that this process would report.
  EXPECT_GT(time_ms(record), 0.01);
}

TEST(OwnClock, TimesCallsOfEachKind) {
  for (const char* file : {"honest.py", "thread_per_row.cu"}) {
    SCOPED_TRACE(file);
    const Record record = judged(file);
    ASSERT_TRUE(record.timing);
    EXPECT_EQ(record.timing->trust, "own_clock");
    EXPECT_FALSE(record.timing->is_bounded());
    EXPECT_EQ(record.timing->sides.at("candidate").count, 4);
    EXPECT_TRUE(record.speedup.empty());
  }
  EXPECT_GT(time_ms(judged("honest.py")), 100);
  EXPECT_LT(time_ms(judged("honest.py")), 1000);
}

TEST(OwnClock, KernelBenchsRulesTakeTheProcesssWord) {
  const JudgedRun run = run_of({"5_Matmul/03_clock_overwritten.py"}, {}, {"--kb-compat"});
  const Record record = judged("03_clock_overwritten.py", run);
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->trust, "self_reported");
  EXPECT_FALSE(record.timing->is_bounded());
}

}  // namespace
}  // namespace kbench::test
