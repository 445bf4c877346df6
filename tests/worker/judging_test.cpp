// SPDX-License-Identifier: MIT
#include "worker/reference/judging.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace kbench::worker {
namespace {

/// The result of an answer of ones, one of which is off by this many tolerances.
JudgedAnswer off_by(double tolerances, std::int64_t elements = 100) {
  const auto expected = at::ones({elements});
  auto got = expected.clone();
  got[7] += tolerances * 1e-4 * 2;  // of |1| + rms 1 = 2
  const AnsweredTensor answer{ExpectedOutput{expected, {}, 0, 1}, got};
  return judge_answer("native", 0, {&answer, 1});
}

TEST(JudgeAnswer, TellsHowManyTolerancesAnErrorIs) {
  const auto right = off_by(0.9);
  EXPECT_EQ(right.wrong_elements, 0);
  EXPECT_NEAR(right.worst_ratio, 0.9, 0.01);
  const auto wrong = off_by(1.5);
  EXPECT_EQ(wrong.wrong_elements, 1);
  EXPECT_EQ(wrong.elements, 100);
  EXPECT_NEAR(wrong.worst_ratio, 1.5, 0.01);
  EXPECT_FALSE(wrong.whole);
}

TEST(NearMisses, AreOneElementByLessThanTwice) {
  EXPECT_FALSE(NearMisses(1).takes(off_by(0.9))) << "it is right";
  EXPECT_TRUE(NearMisses(1).takes(off_by(1.1)));
  EXPECT_TRUE(NearMisses(1).takes(off_by(1.9)));
  EXPECT_FALSE(NearMisses(1).takes(off_by(2.1)));
  EXPECT_FALSE(NearMisses(1).takes(off_by(std::numeric_limits<double>::quiet_NaN())));
}

TEST(NearMisses, AreSoFewOfAllAnswersToADistribution) {
  JudgedAnswer two = off_by(1.5);
  two.wrong_elements = 2;
  EXPECT_FALSE(NearMisses(5).takes(two));
  two.elements = 200'000;
  EXPECT_TRUE(NearMisses(1).takes(two));
  two.elements = 199'999;
  EXPECT_FALSE(NearMisses(1).takes(two));
  EXPECT_TRUE(NearMisses(5).takes(two)) << "of a million";

  NearMisses few(5);
  EXPECT_FALSE(few.any());
  EXPECT_TRUE(few.takes(off_by(1.5)));
  EXPECT_FALSE(few.takes(off_by(1.5))) << "the second one of 500 elements";
  EXPECT_TRUE(few.any());
}

TEST(NearMisses, AreNoneWhereNothingIsRounded) {
  const auto whole = at::arange(100, at::kFloat);
  auto got = whole.clone();
  ExpectedOutput expected_output{whole, {}, whole_tolerance(whole), 1};
  got[7] += 1.5 * expected_output.whole * (7 + 57.3);
  const AnsweredTensor floating{expected_output, got};
  const auto judged = judge_answer("native", 0, {&floating, 1});
  EXPECT_EQ(judged.wrong_elements, 1);
  EXPECT_LT(judged.worst_ratio, 2);
  EXPECT_FALSE(NearMisses(1).takes(judged));

  const auto integers = at::arange(100);
  auto other = integers.clone();
  other[7] += 1;
  const AnsweredTensor exact{ExpectedOutput{integers, {}, 0, 1}, other};
  EXPECT_FALSE(NearMisses(1).takes(judge_answer("native", 0, {&exact, 1})));
}

}  // namespace
}  // namespace kbench::worker
