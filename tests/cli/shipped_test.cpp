// SPDX-License-Identifier: MIT
// Every shipped candidate has the outcome that its name promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

const std::filesystem::path kCandidates =
    std::filesystem::path(KBENCH_SOURCE_DIR) / "problems" / "candidates";

/// The expected outcome of a wrong candidate: its file name up to "__".
std::string promised(const std::string& candidate) {
  const auto stem = std::filesystem::path(candidate).stem().string();
  return stem.substr(0, stem.find("__"));
}

std::size_t count_sources(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".cu") ++count;
  return count;
}

class Shipped : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cuda" && !have_gpu()) GTEST_SKIP() << "no GPU on this machine";
  }

  std::map<std::string, Record> score(const std::string& which,
                                      const std::vector<std::string>& more) {
    const auto out = folder_.path() / "run.jsonl";
    std::vector<std::string> arguments{
        "eval",  "--device",  GetParam(), "--candidates", (kCandidates / which).string(),
        "--out", out.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_kbench(arguments, {}, std::chrono::seconds(580));
    EXPECT_EQ(result.status.code, 0) << result.error;
    return records_by_candidate(out);
  }

  TempFolder folder_;
};

TEST_P(Shipped, RightCandidatesAreCorrect) {
  const auto records = score("right", {});
  EXPECT_EQ(records.size(), count_sources(kCandidates / "right"));
  std::set<std::string> problems;
  for (const auto& [candidate, record] : records) {
    EXPECT_EQ(to_string(record.outcome), "correct") << candidate << ": " << record.message;
    EXPECT_FALSE(record.correctness.empty()) << candidate;
    problems.insert(record.problem.str());
    if (record.outcome != Outcome::kCorrect) continue;
    ASSERT_TRUE(record.timing.has_value()) << candidate;
    EXPECT_EQ(record.timing->trust, "own_clock");
    EXPECT_EQ(record.timing->method, GetParam() == "cuda" ? "gated" : "wall");
    EXPECT_GT(record.timing->sides.at("candidate").median_ms, 0);
    EXPECT_EQ(record.speedup.size(), GetParam() == "cuda" ? 1u : 0u) << candidate;
  }
  EXPECT_GE(problems.size(), 24u);
  // Each problem needs at least two right candidates, of two models.
  std::map<std::string, std::set<std::string>> models;
  for (const auto& [candidate, record] : records)
    models[record.problem.str()].insert(record.model.str());
  for (const auto& [problem, who] : models) EXPECT_GE(who.size(), 2u) << problem;
}

TEST_P(Shipped, WrongCandidatesGetTheOutcomeOfTheirName) {
  const auto records = score("wrong", {"--compile-timeout", "4"});
  // A model with candidates for some problems has `missing` records for the others.
  std::set<std::string> outcomes;
  std::size_t judged = 0;
  for (const auto& [candidate, record] : records) {
    if (record.outcome == Outcome::kMissing) continue;
    ++judged;
    EXPECT_EQ(to_string(record.outcome), promised(candidate))
        << candidate << ": " << record.cause.str() << ": " << record.message;
    EXPECT_FALSE(record.message.empty()) << candidate;
    EXPECT_FALSE(record.timing.has_value()) << candidate;
    outcomes.insert(std::string(to_string(record.outcome)));
    if (GetParam() == "cpu" && candidate.ends_with("last_writer_wins.cu")) {
      EXPECT_EQ(record.checked_again, "found") << record.message;
    }
  }
  EXPECT_EQ(judged, count_sources(kCandidates / "wrong"));
  EXPECT_THAT(outcomes, testing::IsSupersetOf({"compile_failure", "mismatch", "wrong_shape",
                                               "wrong_dtype", "illegal_write", "crash", "timeout",
                                               "nondeterministic", "out_of_memory"}));
}

INSTANTIATE_TEST_SUITE_P(Device, Shipped, testing::Values(KBENCH_TEST_DEVICE));

}  // namespace
}  // namespace kbench::test
