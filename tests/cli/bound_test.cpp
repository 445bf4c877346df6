// SPDX-License-Identifier: MIT
// What a candidate's own process says of its time, held against the judge's clock.
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

/// The record of one candidate for a shipped problem, and its details.
Record judged(const fs::path& file, const std::string& problem,
              const std::vector<std::string>& more = {}, nlohmann::json* details = nullptr) {
  const TempFolder folder;
  const auto out = folder.path() / "run.jsonl";
  std::vector<std::string> arguments{"eval",     "--candidate", file.string(), "--problem", problem,
                                     "--device", "cpu",         "--out",       out.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto result = run_kbench(arguments);
  EXPECT_EQ(result.status.code, 0) << result.error;
  const auto records = records_by_candidate(out);
  EXPECT_EQ(records.size(), 1u);
  if (records.empty()) return {};
  Record record = records.begin()->second;
  EXPECT_EQ(to_string(record.outcome), "correct") << record.cause.str() << ": " << record.message;
  EXPECT_TRUE(record.timing);
  if (details != nullptr) *details = nlohmann::json::parse(contents(details_path(out)));
  return record;
}

double told_ms(const Record& record) { return record.timing->bounds.at("candidate").told_ms; }
double time_ms(const Record& record) { return record.timing->sides.at("candidate").median_ms; }

struct Forger {
  const char* file;
  const char* problem;
  double truth_ms;  ///< that it sleeps, at least; 0: a thousand times what it tells
};

class Forgers : public testing::TestWithParam<Forger> {};

TEST_P(Forgers, AreNotBelieved) {
  const Forger& forger = GetParam();
  const Record record = judged(kCheats / forger.file, forger.problem);
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

INSTANTIATE_TEST_SUITE_P(
    Bound, Forgers,
    testing::Values(Forger{"5_Matmul/03_clock_overwritten.py", "level1/5_Matmul", 3},
                    Forger{"2_RowNorm/03_patched_libc.cu", "level1/2_RowNorm", 5},
                    Forger{"9_CumulativeSum/04_rewritten_message.cu", "level1/9_CumulativeSum", 0}),
    [](const auto& forger) {
      const std::string file = fs::path(forger.param.file).stem().string();
      return file.substr(0, 2) + "_" + file.substr(3);
    });

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

TEST(Bound, AnHonestModuleIsConfirmed) {
  const TempFolder folder;
  // Long enough that what this machine does besides is little of it.
  const auto file = folder.write("honest.py", sleeping_matmul("0.1"));
  const Record record = judged(file, "level1/5_Matmul");
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->trust, "confirmed");
  EXPECT_FALSE(record.timing->is_bounded());
  EXPECT_EQ(record.timing->sides.at("candidate").count, 4);
  const auto& bound = record.timing->bounds.at("candidate");
  EXPECT_GE(bound.told_ms, 100);
  EXPECT_LT(bound.told_ms, 1000);
  EXPECT_GE(bound.told_ms, 0.8 * bound.bound_ms);
  // A wall holds its calls.
  EXPECT_GT(bound.bound_ms, 100 * 0.9);
  EXPECT_LT(bound.overhead_ms, 50);
  EXPECT_EQ(bound.blocks, 2);
  EXPECT_TRUE(record.speedup.empty());
}

TEST(Bound, TheTimeOfAShortHonestModuleIsNotMadeShorter) {
  const TempFolder folder;
  const auto file = folder.write("honest.py", sleeping_matmul("0"));
  nlohmann::json details;
  const Record record = judged(file, "level1/5_Matmul", {}, &details);
  ASSERT_TRUE(record.timing);
  const auto& bound = record.timing->bounds.at("candidate");
  // What is held against the bound is the lesser of median and mean.
  const auto told = details.at("raw_ms").at("candidate").get<std::vector<double>>();
  const double mean_ms =
      std::accumulate(told.begin(), told.end(), 0.0) / static_cast<double>(told.size());
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
  const auto kernel = fs::path(KBENCH_SOURCE_DIR) / "problems" / "candidates" / "right" / "naive" /
                      "2_RowNorm" / "thread_per_row.cu";
  const Record record = judged(kernel, "level1/2_RowNorm");
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->trust, "own_code");
  EXPECT_TRUE(record.timing->bounds.empty());
}

TEST(Bound, KernelBenchsRulesTakeItsWord) {
  const Record record =
      judged(kCheats / "5_Matmul/03_clock_overwritten.py", "level1/5_Matmul", {"--kb-compat"});
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->trust, "self_reported");
  EXPECT_FALSE(record.timing->is_bounded());
  EXPECT_TRUE(record.timing->bounds.empty());
}

}  // namespace
}  // namespace kbench::test
