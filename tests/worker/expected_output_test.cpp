// SPDX-License-Identifier: MIT
#include "worker/compare/expected_output.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace kbench::worker {
namespace {

ExpectedOutput expected_output(const at::Tensor& output, const at::Tensor& exact) {
  return expected_outputs_of({output}, {exact}, {}).at(0);
}

TEST(ExpectedOutput, IsTheExactAnswerAndKnowsTheReferencesError) {
  const auto exact = at::ones({100}, at::kDouble);
  auto output = exact.to(at::kFloat);
  output[7] += 2e-5;  // of |1| + rms 1 = 2
  const ExpectedOutput found = expected_output(output, exact);
  EXPECT_EQ(found.value.scalar_type(), at::kFloat);
  EXPECT_EQ(found.value[7].item<float>(), 1);
  ASSERT_TRUE(found.eager_error);
  EXPECT_NEAR(*found.eager_error, 1e-5, 1e-7);
  EXPECT_EQ(found.allowed(1e-4), 1e-4);
  EXPECT_NEAR(found.allowed(1e-6), 4e-5, 1e-6);
}

TEST(ExpectedOutput, OfNarrowOutputsIsWider) {
  const auto exact = at::full({10}, 1.0 / 3, at::kDouble);
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    const ExpectedOutput found = expected_output(exact.to(type), exact);
    EXPECT_EQ(found.value.scalar_type(), at::kFloat);
    EXPECT_NEAR(found.value[0].item<float>(), 1.0 / 3, 1e-7);
    EXPECT_GT(found.eager_error.value_or(0), 1e-5);
  }
  EXPECT_EQ(expected_output(exact, exact).value.scalar_type(), at::kDouble);
}

TEST(ExpectedOutput, WhoRoundsAsTheReferenceDoesIsRightInHalfTypes) {
  const auto exact = at::tensor({1.0, 1.0, 1.0}, at::kDouble);
  for (const double error : {1e-3, 1e-2, 3.5e-2}) {
    const ExpectedOutput found =
        expected_output(exact.add(2 * error).to(at::kBFloat16), exact);  // of |1| + rms 1 = 2
    ASSERT_TRUE(found.eager_error) << error;
    EXPECT_GT(found.allowed(1e-2), *found.eager_error) << error;
    EXPECT_LE(found.allowed(1e-2), std::max(2e-2, 1.5 * *found.eager_error)) << error;
  }
}

TEST(ExpectedOutput, WhereDigitsMayBeLostHalfTypesHaveFew) {
  const auto exact = at::tensor({1.0, 1.0, 1.0}, at::kDouble);
  ExpectedOutput wide = expected_output(exact.to(at::kFloat), exact);
  ExpectedOutput half = expected_output(exact.to(at::kHalf), exact);
  wide.slack = half.slack = 100;
  EXPECT_EQ(wide.allowed(1e-4), 1e-2);
  EXPECT_EQ(half.allowed(1e-2), 0.2) << "and not any answer";
  half.slack = 2;
  EXPECT_EQ(half.allowed(1e-2), 2e-2);
}

TEST(ExpectedOutput, IsTheTrueAnswerOrTheReferencesWhereThatOverflows) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto output = at::tensor({inf, inf, nan, 2.0}, at::kDouble).to(at::kHalf);
  // If the number exceeds the type's range, the reference's answer is right.
  EXPECT_FALSE(expected_output(output, at::tensor({5.0, 1e6, 7.0, 2.0}, at::kDouble)).eager_error);
  const auto in_range = at::tensor({5.0, 6.0, 7.0, 2.0}, at::kDouble);
  const ExpectedOutput found = expected_output(output, in_range);
  ASSERT_TRUE(found.eager_error);
  EXPECT_EQ(*found.eager_error, 0);
  EXPECT_TRUE(found.settled(output).equal(in_range.to(at::kHalf)));
  // Other infinities are wrong.
  const auto wrong = at::tensor({-inf, 3.0, inf, inf}, at::kDouble).to(at::kHalf);
  EXPECT_TRUE(found.settled(wrong).equal(wrong));
  EXPECT_TRUE(expected_output(in_range.to(at::kHalf), in_range).settled(wrong).equal(wrong));
}

TEST(ExpectedOutput, KnowsTheWiderAnswerWhereTheReferenceLosesItsOwn) {
  const auto exact = at::tensor({100.0, -75.0, 1.0}, at::kDouble);
  const auto output = at::tensor({100.0, -78.0, 1.0}, at::kDouble);
  const ExpectedOutput half = expected_output(output.to(at::kHalf), exact);
  EXPECT_TRUE(half.value.equal(output.to(at::kHalf)));
  ASSERT_TRUE(half.wider.defined());
  EXPECT_TRUE(half.wider.equal(exact.to(at::kFloat)));
  EXPECT_FALSE(expected_output(exact.to(at::kHalf), exact).wider.defined());
}

TEST(ExpectedOutput, IsTheReferencesOwnAnswerWhereNoOtherFits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto output = at::arange(4, at::kFloat);
  const auto exact = output.to(at::kDouble);
  const at::Tensor others[] = {exact * 1.5,         // a different answer
                               exact.view({2, 2}),  // a different shape
                               at::tensor({0.0, 1.0, nan, 3.0}, at::kDouble)};
  for (const auto& other : others) {
    const ExpectedOutput found = expected_output(output, other);
    EXPECT_TRUE(found.value.equal(output));
    EXPECT_FALSE(found.eager_error);
    EXPECT_EQ(found.allowed(1e-4), 1e-4);
  }
  EXPECT_FALSE(expected_outputs_of({output, output}, {exact}, {}).at(0).eager_error);
  EXPECT_FALSE(expected_outputs_of({output}, {}, {}).at(0).eager_error);
  const auto places = at::arange(4, at::kLong);
  EXPECT_EQ(expected_output(places, places + 1).value[0].item<std::int64_t>(), 0);
}

TEST(ExpectedOutput, NotFiniteIsRightWhereHonestAnswersMayDifferAndToldByAFlag) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  ExpectedOutput found{at::tensor({1.0F, 2.0F, kNan, kInf, -kInf}), std::nullopt, 0, 1};
  found.non_finite = true;
  struct Case {
    std::vector<float> got;
    std::int64_t wrong;
    std::string_view flag;
  };
  const std::vector<Case> cases{
      {{1, 2, kNan, kInf, -kInf}, 0, ""},
      {{1, 2, 7, kInf, -kInf}, 0, "nan_dropped"},
      {{1, 2, kInf, kInf, -kInf}, 0, "nan_dropped"},
      {{kNan, 2, kNan, kInf, -kInf}, 0, "non_finite_spread"},
      {{1, -kInf, kNan, kInf, -kInf}, 0, "non_finite_spread"},
      {{1, 2, kNan, kNan, -kInf}, 0, "non_finite_spread"},
      {{1, 2, kNan, kInf, -3e38F}, 0, "infinity_bounded"},
      {{1, 2, kNan, kInf, 3e38F}, 1, ""},
      {{1, 2, kNan, 0, -kInf}, 1, ""},
      {{1, 2, kNan, 0, 0}, 2, ""},
      {{1, 2, kNan, -kInf, -kInf}, 1, ""},
      {{1, 3, kNan, kInf, -kInf}, 1, ""},
      {{1, 3, 7, kInf, -kInf}, 1, "nan_dropped"},
  };
  for (const auto& [values, wrong, flag] : cases) {
    const auto got = at::tensor(values);
    EXPECT_EQ(found.compared(got, 1e-4).wrong_elements, wrong) << got;
    for (const auto& row : deviation_flags())
      EXPECT_EQ(found.deviations(got) >> static_cast<unsigned>(row.deviation) & 1, row.flag == flag)
          << got << row.flag;
  }
  found.non_finite = false;
  EXPECT_EQ(found.compared(at::tensor(cases[1].got), 1e-4).wrong_elements, 1);
  EXPECT_EQ(found.deviations(at::tensor(cases[1].got)), 0u);
}

}  // namespace
}  // namespace kbench::worker
