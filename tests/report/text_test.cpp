// SPDX-License-Identifier: MIT
#include "report/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kbench::report {
namespace {

using testing::ElementsAre;

TEST(Text, DurationsHaveThreeDigitsAndAFittingUnit) {
  EXPECT_EQ(duration(0.00123), "1.23 µs");
  EXPECT_EQ(duration(0.0102), "10.2 µs");
  EXPECT_EQ(duration(0.4567), "457 µs");
  EXPECT_EQ(duration(12.34), "12.3 ms");
  EXPECT_EQ(duration(2310), "2.31 s");
  EXPECT_EQ(duration(std::nan("")), "–");
}

TEST(Text, WidthsCountCodePoints) {
  EXPECT_EQ(columns("0.67–0.96"), 9u);
  EXPECT_EQ(padded("µ", 3), "µ  ");
  EXPECT_EQ(padded("µ", 3, true), "  µ");
  EXPECT_EQ(padded("long", 2), "long");
  EXPECT_EQ(fitted("Größe", 5), "Größe");
  EXPECT_EQ(fitted("Größer", 5), "Größ…");
  EXPECT_EQ(fitted("ab", 0), "");
}

TEST(Text, LinesBreakAtSpacesAndInWordsThatAreTooLong) {
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("exactly8", 8), ElementsAre("exactly8"));
  EXPECT_THAT(wrapped("abcdefghijkl mn", 8), ElementsAre("abcdefgh", "ijkl mn"));
  EXPECT_THAT(wrapped("", 8), ElementsAre(""));
}

TEST(Text, ControlCharactersBecomeOneSpace) {
  EXPECT_EQ(printable("a\n\tb\x1b[0m\x7f"), "a b [0m ");
  EXPECT_EQ(printable("µ\xc2\x9b"
                      "x"),
            "µ x");
}

TEST(Text, FactorsAndCounts) {
  EXPECT_EQ(factor(1.9), "1.90x");
  EXPECT_EQ(factor(123.4), "123x");
  EXPECT_EQ(factor(std::nullopt), "–");
  EXPECT_EQ(counted(1, "problem"), "1 problem");
  EXPECT_EQ(counted(0, "problem"), "0 problems");
}

}  // namespace
}  // namespace kbench::report
