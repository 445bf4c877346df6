// SPDX-License-Identifier: MIT
#include "report/text/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/text/workflow_commands.hpp"

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

TEST(Text, WideCharactersTakeTwoColumnsAndMarksNone) {
  EXPECT_EQ(columns("漢字"), 4u);
  EXPECT_EQ(columns("🚀"), 2u);
  EXPECT_EQ(columns("e\xcc\x81"), 1u);  // a letter and its accent
  EXPECT_EQ(padded("🚀", 4), "🚀  ");
  EXPECT_EQ(fitted("漢字漢字", 4), "漢…") << "half a character is none";
  EXPECT_THAT(wrapped("漢字漢字漢字", 8), ElementsAre("漢字漢字", "漢字"));
  EXPECT_EQ(columns("\xff\xfe"), 2u) << "bytes that are no UTF-8 are shown one by one";
}

TEST(Text, NamesAreCutInTheirMiddle) {
  EXPECT_EQ(fitted_name("1_Conv2d_InstanceNorm_Divide", 20), "1_Conv2d_Ins…_Divide");
  EXPECT_EQ(fitted_name("maker/model-1", 10), "maker/…l-1");
  EXPECT_EQ(fitted_name("short", 5), "short");
  EXPECT_EQ(fitted_name("漢字漢字漢字", 9), "漢字…字");
  EXPECT_EQ(columns(fitted_name("level1/🚀🚀🚀🚀🚀🚀", 12)), 12u);
}

TEST(Text, NamesThatDifferStayDifferent) {
  EXPECT_THAT(fitted_names({"short", "a long name indeed"}, 10),
              ElementsAre("short", "a long…eed"));
  EXPECT_THAT(fitted_names({"model-0 with all its tools", "model-1 with all its tools"}, 9),
              ElementsAre("…0 with …", "…1 with …"));
  EXPECT_THAT(fitted_names(
                  {"alike-漢a-and-on-alike", "alike-漢b-and-on-alike", "alike-字-and-on-alike"}, 9),
              ElementsAre("…漢a-and…", "…漢b-and…", "…字-and-…"));
  EXPECT_THAT(fitted_names({"alike-漢-and-on-alike", "alike-漣-and-on-alike"}, 9),
              ElementsAre("…漢-and-…", "…漣-and-…"));
  EXPECT_THAT(fitted_names({"wide-0", "wide-1"}, 1), ElementsAre("…", "…"));
  EXPECT_THAT(fitted_names({"same and same", "same and same"}, 8), ElementsAre("…", "…"));
}

TEST(Text, LinesBreakAtSpacesAndInWordsThatAreTooLong) {
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("exactly8", 8), ElementsAre("exactly8"));
  EXPECT_THAT(wrapped("abcdefghijkl mn", 8), ElementsAre("abcdefgh", "ijkl mn"));
  EXPECT_THAT(wrapped("", 8), ElementsAre(""));
  EXPECT_THAT(wrapped("/one/two/three/four", 10), ElementsAre("/one/two/", "three/four"));
}

TEST(Text, ControlCharactersBecomeOneSpace) {
  EXPECT_EQ(printable("a\n\tb\x1b[0m\x7f"), "a b [0m ");
  EXPECT_EQ(printable("µ\xc2\x9b"
                      "x"),
            "µ x");
}

TEST(Text, WhatTurnsTextAroundOrEndsLinesIsNotPrinted) {
  EXPECT_EQ(printable("a\u202eb\u2028c\u2029\u2066d\ufeff"), "a b c d ");
  EXPECT_EQ(printable("zero\u200bwidth"), "zero width");
  EXPECT_EQ(printable("a\xff\x9b[31m"), "a\ufffd\ufffd[31m");
  EXPECT_EQ(printable("Größe 漢字 🚀"), "Größe 漢字 🚀");
}

TEST(Text, NoLineIsAWorkflowCommand) {
  EXPECT_EQ(without_commands("::error::x\n  ::add-mask::y\na ::no\n"),
            ": :error::x\n  : :add-mask::y\na ::no\n");
  EXPECT_EQ(without_commands("\u00a0\u3000::x"), "\u00a0\u3000: :x");
  EXPECT_EQ(without_commands("\x1b[2m      ::x\x1b[0m"), "\x1b[2m      : :x\x1b[0m");
  EXPECT_EQ(without_commands("x ##[error]y ##VSO[z] ##teamCity[w"),
            "x # #[error]y # #VSO[z] # #teamCity[w");
  EXPECT_EQ(without_commands("std::max(a##b[0], ## c, :x)"), "std::max(a##b[0], ## c, :x)");
  EXPECT_EQ(json_without_commands(R"({"a": "x ##[error]###[y"})"),
            R"({"a": "x #\u0023[error]#\u0023#[y"})");
}

TEST(Text, PathsGiveWayToWhatIsSaid) {
  EXPECT_EQ(with_short_paths("/a/b/c.cu(12): error: no \"x/y\" in /d/e"),
            "…/c.cu(12): error: no \"x/y\" in …/e");
  EXPECT_EQ(with_short_paths("a / b // c"), "a / b // c");
  EXPECT_EQ(with_short_paths("kernels/3_Softmax/typo.cu:7: …"), "…/typo.cu:7: …");
}

TEST(Text, FactorsAndCounts) {
  EXPECT_EQ(factor(1.9), "1.90x");
  EXPECT_EQ(factor(123.4), "123x");
  EXPECT_EQ(factor(0.1), "0.10x");
  EXPECT_EQ(factor(0.00181), "0.0018x");
  EXPECT_EQ(factor(0.0), "0.00x");
  EXPECT_EQ(interval_text({.value = {}, .lo = 0.00181, .hi = 0.0019, .why_none = {}}),
            "0.0018–0.0019");
  EXPECT_EQ(interval_text({.value = {}, .lo = 0.0, .hi = 0.5, .why_none = {}}), "0.00–0.50");
  EXPECT_EQ(factor(std::nullopt), "–");
  EXPECT_EQ(counted(1, "problem"), "1 problem");
  EXPECT_EQ(counted(0, "problem"), "0 problems");
}

}  // namespace
}  // namespace kbench::report
