// SPDX-License-Identifier: MIT
// Answers to KernelBench's own problems: the source splitter splits them, and a few are judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

namespace fs = std::filesystem;

/// Answers of all levels that compile and run quickly: naive and vectorised kernels, cub,
/// cooperative groups, several outputs of a build, a model with weights. scripts/bench builds all
/// 74.
constexpr const char* kJudged[] = {"level_1_problem_12_sample_0", "level_1_problem_19_sample_0",
                                   "level_1_problem_19_sample_1", "level_1_problem_38_sample_0",
                                   "level_2_problem_14_sample_0", "level_2_problem_76_sample_0",
                                   "level_3_problem_1_sample_0"};

TEST(KernelBenchCorpus, SomeOfEachLevelAreCorrect) {
  const char* checkout = std::getenv("KBENCH_KERNELBENCH");
  if (checkout == nullptr) GTEST_SKIP() << "KBENCH_KERNELBENCH names no KernelBench checkout";
  const TempFolder folder;
  const fs::path corpus = fs::path(KBENCH_SOURCE_DIR) / "tests/corpus/kernelbench";
  fs::create_directories(folder.path() / "run");
  for (const std::string name : kJudged)
    fs::copy(corpus / (name + "_kernel.py"), folder.path() / "run");
  std::vector<std::string> arguments{"eval"};
  // Only these problems, because reducing the sizes of a whole level takes minutes.
  for (const char* problem :
       {"level1/12_", "level1/19_", "level1/38_", "level2/14_", "level2/76_", "level3/1_"}) {
    const fs::path prefix = fs::path(checkout) / "KernelBench" / problem;
    for (const auto& file : fs::directory_iterator(prefix.parent_path()))
      if (file.path().string().starts_with(prefix.string())) arguments.push_back(file.path());
  }
  const auto out = folder.path() / "run.jsonl";
  arguments.insert(arguments.end(),
                   {"--candidates", "corpus=" + (folder.path() / "run").string(), "--device", "cpu",
                    "--reduce-sizes=1MiB,4MFLOP", "--trials", "2", "--out", out.string()});
  const auto result = run_kbench(arguments, {}, std::chrono::seconds(280));
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto run = read_run(out);
  EXPECT_EQ(run.records.size(), std::size(kJudged));
  for (const auto& record : run.records)
    EXPECT_EQ(to_string(record.outcome), "correct")
        << record.candidate << ": " << record.cause.str() << ": " << record.message;
}

}  // namespace
}  // namespace kbench::test
