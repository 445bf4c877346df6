// SPDX-License-Identifier: MIT
// The skeleton that `kbench list PROBLEM --names` prints compiles and has the right form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

TEST(Skeleton, OfEveryShippedProblemIsWrongInItsValuesOnly) {
  const TempFolder folder;
  const auto listed = run_kbench({"list", "--format", "json", "--device", "cpu"});
  ASSERT_EQ(listed.status.code, 0) << listed.error;
  std::size_t problems = 0;
  for (const std::string level : {"level1", "level2", "level3"}) {
    const auto set = std::filesystem::path(KBENCH_SOURCE_DIR) / "problems" / level;
    for (const auto& entry : std::filesystem::directory_iterator(set)) {
      if (entry.path().extension() != ".py") continue;
      ++problems;
      const auto names = run_kbench({"list", entry.path().string(), "--names", "--device", "cpu"});
      ASSERT_EQ(names.status.code, 0) << names.error;
      const auto skeleton = names.output.find("\n\n");
      ASSERT_NE(skeleton, std::string::npos) << names.output;
      folder.write("me/" + level + "_" + entry.path().stem().string() + "/skeleton.cu",
                   names.output.substr(skeleton + 2));
    }
  }
  EXPECT_GE(problems, 24u);
  const auto out = folder.path() / "run.jsonl";
  const auto result = run_kbench({"eval", "--candidates", (folder.path() / "me").string(),
                                  "--device", "cpu", "--out", out.string(), "--trials", "1"});
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto run = read_run(out);
  EXPECT_EQ(run.records.size(), problems);
  for (const auto& record : run.records)
    EXPECT_EQ(record.outcome, Outcome::kMismatch)
        << record.problem.str() << ": " << record.cause.str() << ": " << record.message;
}

}  // namespace
}  // namespace kbench::test
