// SPDX-License-Identifier: MIT
#include "run/schedule/trivial_passes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/test_folder.hpp"

namespace kbench::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(TrivialPasses, AreKeptForOtherRunsOfTheSameCheck) {
  const test::ScratchFolder folder;
  const auto kept = folder.path() / "trivial";
  {
    TrivialPasses first(kept, "native, 5 trials");
    EXPECT_EQ(first.find("p1"), std::nullopt);
    first.keep("p1", {"constant", "zeros"});
    first.keep("p2", {});
    EXPECT_THAT(first.find("p1"), Optional(ElementsAre("constant", "zeros")));
  }
  TrivialPasses second(kept, "native, 5 trials");
  EXPECT_THAT(second.find("p1"), Optional(ElementsAre("constant", "zeros")));
  EXPECT_THAT(second.find("p2"), Optional(IsEmpty()));
  EXPECT_EQ(second.find("p3"), std::nullopt);
  EXPECT_EQ(TrivialPasses(kept, "fp16, 5 trials").find("p1"), std::nullopt);
}

TEST(TrivialPasses, WhatIsCutOffIsNotKnown) {
  const test::ScratchFolder folder;
  TrivialPasses(folder.path(), "c").keep("p", {"constant"});
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    std::ofstream(entry.path()) << "[\"const";
  TrivialPasses again(folder.path(), "c");
  EXPECT_EQ(again.find("p"), std::nullopt);
  again.keep("p", {"constant"});
  EXPECT_THAT(TrivialPasses(folder.path(), "c").find("p"), Optional(ElementsAre("constant")));
}

TEST(TrivialPasses, AFolderThatCannotBeWrittenChangesNothing) {
  TrivialPasses passes("/proc/no/such/folder", "c");
  passes.keep("p", {"zeros"});
  EXPECT_THAT(passes.find("p"), Optional(ElementsAre("zeros")));
}

}  // namespace
}  // namespace kbench::run
