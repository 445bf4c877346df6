// SPDX-License-Identifier: MIT
// Tables at any width: columns never touch, and no cell is cut.
#include "report/text/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/text/text.hpp"

namespace kbench::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TextRows kRows = {{"name", "time", "inputs"},
                        {"softmax", "1.25 ms", "x: float32[16, 1000], dim = 1"},
                        {"relu", "10 µs", "x: float32[8]"}};

TEST(Table, HasTwoSpacesBetweenColumns) {
  EXPECT_THAT(table_lines(kRows, {.right = {1}}),
              ElementsAre(ElementsAre("name        time  inputs"),
                          ElementsAre("softmax  1.25 ms  x: float32[16, 1000], dim = 1"),
                          ElementsAre("relu       10 µs  x: float32[8]")));
}

TEST(Table, TheLastCellWrapsBelowItsOwnBegin) {
  EXPECT_THAT(table_lines(kRows, {.right = {1}, .width = 40})[1],
              ElementsAre("softmax  1.25 ms  x: float32[16, 1000],",  //
                          "                  dim = 1"));
}

TEST(Table, StacksItsRowsWithoutRoom) {
  EXPECT_THAT(
      table_lines(kRows, {.right = {1}, .width = 30}),
      ElementsAre(
          IsEmpty(),
          ElementsAre("softmax", "  time: 1.25 ms; inputs: x:", "  float32[16, 1000], dim = 1"),
          ElementsAre("relu", "  time: 10 µs; inputs: x:", "  float32[8]")));
  EXPECT_THAT(
      table_lines({{"id", "name"}, {"19", "a_name_of_20_columns"}}, {.right = {0}, .width = 22})[1],
      ElementsAre("a_name_of_20_columns", "  id: 19"));
}

TEST(Table, AWideCellShiftsOnlyItsOwnRow) {
  EXPECT_THAT(table_lines({{"a", "b"}, {"longer", "1"}, {"x", "2"}}, {.widest = 3}),
              ElementsAre(ElementsAre("a  b"), ElementsAre("longer  1"), ElementsAre("x  2")));
}

TEST(Table, FitsEveryWidth) {
  for (std::size_t width = 24; width < 80; ++width)
    for (const auto& lines : table_lines(kRows, {.right = {1}, .width = width}))
      for (const std::string& line : lines) EXPECT_LE(columns(line), width) << line;
}

}  // namespace
}  // namespace kbench::report
