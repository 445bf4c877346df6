// SPDX-License-Identifier: MIT
#include "cli/documents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/approved.hpp"

namespace kbench::cli {
namespace {

TEST(Documents, AreThoseOfTheSource) {
  const std::string source = KBENCH_SOURCE_DIR "/src/";
  ASSERT_THAT(documents(), testing::SizeIs(2));
  EXPECT_EQ(documents()[0].name, "plan");
  EXPECT_EQ(documents()[0].text, test::contents(source + "plan/PLAN.md"));
  EXPECT_EQ(documents()[1].name, "run-file");
  EXPECT_EQ(documents()[1].text, test::contents(source + "record/RUN_FILE.md"));
}

}  // namespace
}  // namespace kbench::cli
