// SPDX-License-Identifier: MIT
// Answers with host code, in the form that models write. All of tests/corpus/shipped are right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

/// The least number of candidates in the folder. With fewer, the folder was not found.
constexpr std::size_t kCandidates = 64;

TEST(Corpus, EveryAnswerIsCorrect) {
  const std::string_view device = KBENCH_TEST_DEVICE;
  if (device == "cuda" && !have_gpu()) GTEST_SKIP() << "no GPU on this machine";
  const TempFolder folder;
  const std::filesystem::path source = KBENCH_SOURCE_DIR;
  const auto out = folder.path() / "run.jsonl";
  std::vector<std::string> words{
      "eval",         (source / "problems").string(),
      "--candidates", "corpus=" + (source / "tests/corpus/shipped").string(),
      "--device",     std::string(device),
      "--out",        out.string()};
  // Times on a CPU prove nothing. cli_hostile_cpu tests timed calls of honest answers.
  if (device == "cpu") words.insert(words.end(), {"--timing", "none"});
  const auto result = run_kbench(words, {}, std::chrono::seconds(580));
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto run = read_run(out);
  EXPECT_GE(run.records.size(), kCandidates);
  for (const auto& record : run.records)
    EXPECT_EQ(to_string(record.outcome), "correct")
        << record.candidate << ": " << record.cause.str() << ": " << record.message;
}

}  // namespace
}  // namespace kbench::test
