// SPDX-License-Identifier: MIT
#include "worker/timing/set_counts.hpp"

#include <gtest/gtest.h>

namespace kbench::worker {
namespace {

TEST(ShareRoom, GivesTrialsASetEachWhereItCan) {
  EXPECT_EQ(share_room(100, 5, 8), (SetCounts{5, 8}));
  EXPECT_EQ(share_room(9, 5, 8), (SetCounts{5, 4}));
  EXPECT_EQ(share_room(9, 5, 2), (SetCounts{5, 2}));
  EXPECT_EQ(share_room(6, 5, 8), (SetCounts{5, 1}));
  EXPECT_EQ(share_room(5, 5, 8), (SetCounts{5, 0}));
  EXPECT_EQ(share_room(4, 5, 8), (SetCounts{4, 0}));
  EXPECT_EQ(share_room(2, 2, 8), (SetCounts{2, 0}));
  EXPECT_EQ(share_room(100, 40, 8), (SetCounts{16, 8}));
}

TEST(ShareRoom, OfTwoOneIsForTimedCalls) {
  EXPECT_EQ(share_room(2, 5, 8), (SetCounts{1, 1}));
  EXPECT_EQ(share_room(1, 5, 8), (SetCounts{1, 0}));
  EXPECT_EQ(share_room(0, 5, 8), (SetCounts{1, 0}));
}

}  // namespace
}  // namespace kbench::worker
