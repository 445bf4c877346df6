// SPDX-License-Identifier: MIT
#include "cli/command_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kbench::cli {
namespace {

using testing::ElementsAre;

TEST(CommandWords, AnOptionalValueIsToldFromAProblem) {
  EXPECT_THAT(command_words({"eval", "--profile", "ncu", "level1"}),
              ElementsAre("eval", "--profile=ncu", "level1"));
  EXPECT_THAT(command_words({"eval", "--profile", "level1"}),
              ElementsAre("eval", "--profile=kernels", "level1"));
  EXPECT_THAT(command_words({"eval", "--reduce-sizes", "2MiB", "level1"}),
              ElementsAre("eval", "--reduce-sizes=2MiB", "level1"));
  EXPECT_THAT(command_words({"eval", "--reduce-sizes", "2MiB,much"}),
              ElementsAre("eval", "--reduce-sizes=2MiB,much"));
  for (const std::string problem : {"19", "level1", "3_Softmax", "--quiet", "/"})
    EXPECT_THAT(command_words({"eval", "--reduce-sizes", problem}),
                ElementsAre("eval", "--reduce-sizes", problem));
  EXPECT_THAT(command_words({"eval", "--reduce-sizes"}), ElementsAre("eval", "--reduce-sizes"));
  EXPECT_THAT(command_words({"eval", "--", "--reduce-sizes", "2MiB"}),
              ElementsAre("eval", "--", "--reduce-sizes", "2MiB"));
}

}  // namespace
}  // namespace kbench::cli
