// SPDX-License-Identifier: MIT
// Reported times of a candidate's process, and the judge's wall-clock bounds on them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

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
             // A long call, in which the machine's other work is only a small part, and a short
             // call.
             {{"5_Matmul/honest.py", sleeping_matmul("0.1")},
              {"5_Matmul/short.py", sleeping_matmul("0")},
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

double told_ms(const Record& record) { return record.timing->bounds.at("candidate").told_ms; }
double time_ms(const Record& record) { return record.timing->sides.at("candidate").median_ms; }

struct Forger {
  const char* file;
  double truth_ms;  ///< the least time of its sleep; 0: a thousand times the reported time
};

class Forgers : public testing::TestWithParam<Forger> {};

TEST_P(Forgers, AreNotBelieved) {
  const Forger& forger = GetParam();
  const Record record = judged(forger.file);
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->trust, "self_reported");
  EXPECT_TRUE(record.timing->is_bounded());
  ASSERT_TRUE(record.timing->bounds.contains("candidate"));
  ASSERT_TRUE(record.timing->bounds.contains("eager"));
  const double truth_ms = forger.truth_ms > 0 ? forger.truth_ms : 1000 * told_ms(record);
  EXPECT_LT(told_ms(record), truth_ms / 100);
  EXPECT_GT(time_ms(record), truth_ms / 2);
  EXPECT_LT(time_ms(record), truth_ms * 30) << "this machine is slow, but not so slow";
  EXPECT_EQ(record.timing->sides.at("candidate").count,
            record.timing->bounds.at("candidate").blocks);
}

INSTANTIATE_TEST_SUITE_P(Bound, Forgers,
                         testing::Values(Forger{"03_clock_overwritten.py", 3},
                                         Forger{"03_patched_libc.cu", 5},
                                         Forger{"04_rewritten_message.cu", 0}),
                         [](const auto& forger) {
                           return fs::path(forger.param.file).stem().string();
                         });

TEST(Bound, AnHonestModuleIsConfirmed) {
  const Record record = judged("honest.py");
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->trust, "confirmed");
  EXPECT_FALSE(record.timing->is_bounded());
  EXPECT_EQ(record.timing->sides.at("candidate").count, 4);
  const auto& bound = record.timing->bounds.at("candidate");
  EXPECT_GE(bound.told_ms, 100);
  EXPECT_LT(bound.told_ms, 1000);
  EXPECT_GE(bound.told_ms, 0.8 * bound.bound_ms);
  // The bound includes the time of the call.
  EXPECT_GT(bound.bound_ms, 100 * 0.9);
  EXPECT_LT(bound.overhead_ms, 50);
  EXPECT_EQ(bound.blocks, 2);
  EXPECT_TRUE(record.speedup.empty());
}

TEST(Bound, TheTimeOfAShortHonestModuleIsNotMadeShorter) {
  const Record record = judged("short.py");
  ASSERT_TRUE(record.timing);
  const auto& bound = record.timing->bounds.at("candidate");
  // The bound is compared with the smaller one of median and mean.
  const auto reported =
      plain_run().details_of("short.py").at("raw_ms").at("candidate").get<std::vector<double>>();
  const double mean_ms =
      std::accumulate(reported.begin(), reported.end(), 0.0) / static_cast<double>(reported.size());
  const double claim_ms = std::min(bound.told_ms, mean_ms);
  EXPECT_EQ(record.timing->trust,
            claim_ms >= std::max(0.8 * bound.bound_ms, 0.9 * bound.bound_ms - 0.2)
                ? "confirmed"
                : "self_reported");
  EXPECT_GE(time_ms(record), 0.8 * bound.told_ms);
  EXPECT_NEAR(time_ms(record), record.timing->is_bounded() ? bound.bound_ms : bound.told_ms,
              1e-5 * time_ms(record));
}

TEST(Bound, KernelsAreTimedByKbenchsOwnCode) {
  const Record record = judged("thread_per_row.cu");
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->trust, "own_code");
  EXPECT_TRUE(record.timing->bounds.empty());
}

TEST(Bound, KernelBenchsRulesTakeItsWord) {
  const JudgedRun run = run_of({"5_Matmul/03_clock_overwritten.py"}, {}, {"--kb-compat"});
  const Record record = judged("03_clock_overwritten.py", run);
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->trust, "self_reported");
  EXPECT_FALSE(record.timing->is_bounded());
  EXPECT_TRUE(record.timing->bounds.empty());
}

}  // namespace
}  // namespace kbench::test
