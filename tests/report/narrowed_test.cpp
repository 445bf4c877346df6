// SPDX-License-Identifier: MIT
#include "report/model/narrowed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report_samples.hpp"

namespace kbench::report {
namespace {

RunHeader header(const char* options) {
  RunHeader header = samples::header("cpu");
  header.options = nlohmann::json::parse(options);
  header.left_out = {.count = 1, .first = {"k/3_Sofmax/0.cu"}};
  return header;
}

std::size_t unplaced(std::vector<RunHeader> headers, std::vector<std::filesystem::path> files) {
  RunFile run;
  run.headers = std::move(headers);
  run.files = std::move(files);
  return unplaced_candidates(run).count;
}

TEST(UnplacedCandidates, AreThoseOfARunThatHadToJudgeAll) {
  EXPECT_EQ(unplaced({header(R"({"narrowed": false})")}, {"a"}), 1u);
  EXPECT_EQ(unplaced({header(R"({"narrowed": true})")}, {"a"}), 0u);
  EXPECT_EQ(unplaced({header(R"({"narrowed": false, "unchanged": []})")}, {"a"}), 0u);
  EXPECT_EQ(unplaced({header("{}")}, {"a"}), 0u) << "an older version does not say";
}

TEST(UnplacedCandidates, AreThoseOfTheNewestResumeAndOfEachFile) {
  RunHeader moved = header(R"({"narrowed": false})");
  moved.left_out = {};
  const RunHeader before = header(R"({"narrowed": false})");
  EXPECT_EQ(unplaced({before, moved}, {"a"}), 0u);
  EXPECT_EQ(unplaced({before, moved}, {"a", "b"}), 1u);
}

}  // namespace
}  // namespace kbench::report
