// SPDX-License-Identifier: MIT
#include "worker/compare.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kbench/kernelbench.hpp"

namespace kbench::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfF = std::numeric_limits<float>::infinity();
/// Elements of a chunk, as the comparison takes them.
constexpr std::int64_t kChunk = 1 << 20;

/// Expected values of root mean square 1.
at::Tensor signs(std::int64_t count) {
  return at::where(at::arange(count).remainder(2).eq(0), at::ones({count}), -at::ones({count}));
}

TEST(Compare, EqualTensorsHaveNoError) {
  at::manual_seed(1);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const auto t = at::randn({13, 7}).to(dtype);
    const auto result = compare(t, t.clone(), 0);
    EXPECT_EQ(result.max_abs_error, 0);
    EXPECT_EQ(result.max_rel_error, 0);
    EXPECT_EQ(result.wrong_elements, 0);
    EXPECT_FALSE(result.first_wrong);
  }
}

TEST(Compare, ErrorsAreRelativeToElementPlusRms) {
  const auto expected = signs(1000) * 8;
  auto got = expected.clone();
  got[10] += 0.016;  // of |8| + rms 8
  const auto result = compare(expected, got, 1e-4);
  EXPECT_NEAR(result.max_abs_error, 0.016, 1e-6);
  EXPECT_NEAR(result.max_rel_error, 1e-3, 1e-7);
  EXPECT_EQ(result.wrong_elements, 1);
  EXPECT_EQ(compare(expected, got, 1.01e-3).wrong_elements, 0);
  EXPECT_EQ(compare(expected, got, 0.99e-3).wrong_elements, 1);
}

TEST(Compare, TheScaleOfTheOutputDoesNotMatter) {
  at::manual_seed(2);
  const auto expected = at::randn({5000}, at::kDouble);
  const auto got = expected + at::randn({5000}, at::kDouble) * 1e-3;
  const auto unit = compare(expected, got, 1e-3);
  EXPECT_GT(unit.wrong_elements, 0);
  for (const double scale : {1e-20, 1e-6, 1e6, 1e30}) {
    const auto scaled = compare(expected * scale, got * scale, 1e-3);
    EXPECT_NEAR(scaled.max_rel_error / unit.max_rel_error, 1, 1e-6) << scale;
    EXPECT_EQ(scaled.wrong_elements, unit.wrong_elements) << scale;
  }
}

TEST(Compare, ASmallElementAmongLargeOnesIsHeldToTheirScale) {
  const auto expected = signs(1000).index_put({at::tensor({3})}, at::zeros({1}));
  auto got = expected.clone();
  got[3] = 5e-5;
  EXPECT_EQ(compare(expected, got, 1e-4).wrong_elements, 0);
  got[3] = 5e-3;
  EXPECT_EQ(compare(expected, got, 1e-4).wrong_elements, 1);
}

TEST(Compare, AllZerosForgiveNothing) {
  const auto expected = at::zeros({100});
  EXPECT_EQ(compare(expected, at::zeros({100}), 1e-4).wrong_elements, 0);
  auto got = at::zeros({100});
  got[7] = 1e-20;
  const auto result = compare(expected, got, 1e-4);
  EXPECT_EQ(result.wrong_elements, 1);
  EXPECT_GT(result.max_rel_error, 0.5);
  got[7] = 1e-39;
  EXPECT_EQ(compare(expected, got, 1e-4).wrong_elements, 0) << "a denormal may be flushed";
  const auto sums = at::full({100}, 5e-36);
  EXPECT_EQ(compare(sums, at::zeros({100}), 1e-4).wrong_elements, 0) << "thousands of them, too";
}

TEST(Compare, AnOutputOfZerosIsWrong) {
  const auto expected = signs(1000);
  EXPECT_EQ(compare(expected, at::zeros({1000}), 1e-2).wrong_elements, 1000);
}

TEST(Compare, NanAndInfinityMustAgree) {
  struct Case {
    float expected, got;
    bool right;
  };
  const Case cases[] = {{kNanF, kNanF, true},   {kNanF, 1, false},      {1, kNanF, false},
                        {kInfF, kInfF, true},   {-kInfF, -kInfF, true}, {kInfF, -kInfF, false},
                        {-kInfF, kInfF, false}, {kInfF, kNanF, false},  {kNanF, kInfF, false},
                        {kInfF, 3e38f, false},  {3e38f, kInfF, false},  {0.0f, -0.0f, true}};
  for (const auto& c : cases) {
    auto expected = signs(100), got = signs(100);
    expected[42] = c.expected;
    got[42] = c.got;
    const auto result = compare(expected, got, 1e-2);
    EXPECT_EQ(result.wrong_elements, c.right ? 0 : 1) << c.expected << " " << c.got;
    if (c.right) {
      EXPECT_EQ(result.max_rel_error, 0) << c.expected;
      continue;
    }
    EXPECT_EQ(result.max_rel_error, kInf) << c.expected << " " << c.got;
    ASSERT_TRUE(result.first_wrong);
    EXPECT_THAT(result.first_wrong->index, ElementsAre(42));
  }
}

TEST(Compare, OneInfinityDoesNotExcuseTheRest) {
  for (const float odd : {kInfF, -kInfF, kNanF}) {
    auto expected = signs(1000), got = signs(1000);
    expected[0] = got[0] = odd;
    got[999] = 1.5;
    const auto result = compare(expected, got, 1e-2);
    EXPECT_EQ(result.wrong_elements, 1);
    EXPECT_THAT(result.first_wrong->index, ElementsAre(999));
  }
}

TEST(Compare, HugeDoublesDoNotOverflowTheScale) {
  auto expected = at::ones({1000}, at::kDouble), got = at::ones({1000}, at::kDouble);
  expected[0] = got[0] = 1e200;
  got[1] = 1e199;
  EXPECT_EQ(compare(expected, got, 1e-4).wrong_elements, 1);
  const auto largest = at::full({10}, 1.7e308, at::kDouble);
  EXPECT_EQ(compare(largest, largest.clone(), 1e-4).wrong_elements, 0);
  EXPECT_EQ(compare(largest, largest * 0.5, 1e-4).wrong_elements, 10);
  EXPECT_EQ(compare(largest, -largest, 1e-4).wrong_elements, 10);
}

TEST(Compare, IntegersAndBoolsAreExactAtAnyTolerance) {
  for (const auto dtype : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}) {
    const auto expected = at::arange(100).to(dtype);
    auto got = expected.clone();
    EXPECT_EQ(compare(expected, got, 1).wrong_elements, 0);
    got[99] -= 1;
    const auto result = compare(expected, got, 1);
    EXPECT_EQ(result.wrong_elements, 1) << at::toString(dtype);
    EXPECT_EQ(result.max_abs_error, 1);
    EXPECT_EQ(result.max_rel_error, kInf);
  }
  const auto expected = at::arange(10).gt(4);
  const auto result = compare(expected, expected.logical_not(), 1);
  EXPECT_EQ(result.wrong_elements, 10);
  EXPECT_EQ(result.first_wrong->expected, "false");
  EXPECT_EQ(result.first_wrong->got, "true");
}

TEST(Compare, NeighbouringLargeIntegersDiffer) {
  const std::int64_t large = std::int64_t{1} << 60;
  const auto result =
      compare(at::full({3}, large, at::kLong), at::full({3}, large + 1, at::kLong), 1);
  EXPECT_EQ(result.wrong_elements, 3);
  EXPECT_EQ(result.first_wrong->expected, std::to_string(large));
  EXPECT_EQ(result.first_wrong->got, std::to_string(large + 1));
}

TEST(Compare, NamesTheFirstWrongElement) {
  auto expected = at::zeros({4, 5, 6}) + 1, got = expected.clone();
  got[2][3][1] = 2.5;
  got[2][3][4] = 9;
  got[3][0][0] = 9;
  const auto result = compare(expected, got, 1e-4);
  EXPECT_EQ(result.wrong_elements, 3);
  ASSERT_TRUE(result.first_wrong);
  EXPECT_THAT(result.first_wrong->index, ElementsAre(2, 3, 1));
  EXPECT_EQ(result.first_wrong->expected, "1");
  EXPECT_EQ(result.first_wrong->got, "2.5");
  EXPECT_EQ(result.max_abs_error, 8);
}

TEST(Compare, ScalarsAndEmptyTensors) {
  const auto result = compare(at::scalar_tensor(2.0), at::scalar_tensor(3.0), 1e-4);
  EXPECT_EQ(result.wrong_elements, 1);
  EXPECT_THAT(result.first_wrong->index, IsEmpty());
  EXPECT_NEAR(result.max_rel_error, 0.25, 1e-12);
  EXPECT_EQ(compare(at::empty({0, 3}), at::empty({0, 3}), 0).wrong_elements, 0);
  EXPECT_EQ(compare(at::empty({0}, at::kLong), at::empty({0}, at::kLong), 0).wrong_elements, 0);
}

TEST(Compare, StridesDoNotMatter) {
  at::manual_seed(3);
  const auto expected = at::randn({6, 8}).t();
  auto got = expected.contiguous();
  EXPECT_EQ(compare(expected, got, 0).wrong_elements, 0);
  got[7][5] = 100;
  const auto result = compare(expected, got, 1e-4);
  EXPECT_EQ(result.wrong_elements, 1);
  EXPECT_THAT(result.first_wrong->index, ElementsAre(7, 5));
}

TEST(Compare, EveryElementAroundTheBordersOfChunksCounts) {
  const std::int64_t count = 2 * kChunk + 5;
  const auto expected = signs(count);
  for (const std::int64_t at :
       {std::int64_t{0}, kChunk - 1, kChunk, 2 * kChunk - 1, 2 * kChunk, count - 1}) {
    auto got = expected.clone();
    got[at] += 0.5;
    const auto result = compare(expected, got, 1e-4);
    EXPECT_EQ(result.wrong_elements, 1) << at;
    ASSERT_TRUE(result.first_wrong) << at;
    EXPECT_THAT(result.first_wrong->index, ElementsAre(at));
    EXPECT_NEAR(result.max_rel_error, 0.25, 1e-6) << at;
  }
}

TEST(Compare, ErrorsInSeveralChunksAreSummedAndTheFirstIsNamed) {
  const std::int64_t count = 2 * kChunk + 5;
  const auto expected = signs(count).view({count, 1});
  auto got = expected.clone();
  got[kChunk + 3] += 0.5;
  got[2 * kChunk + 1] += 8;
  const auto result = compare(expected, got, 1e-4);
  EXPECT_EQ(result.wrong_elements, 2);
  EXPECT_THAT(result.first_wrong->index, ElementsAre(kChunk + 3, 0));
  EXPECT_NEAR(result.max_abs_error, 8, 1e-6);
}

TEST(Compare, TheScaleIsThatOfAllChunks) {
  // The second chunk alone would have a scale a thousand times smaller.
  auto expected = at::cat({signs(kChunk) * 1000, signs(kChunk)});
  auto got = expected.clone();
  got[2 * kChunk - 1] += 0.01;
  EXPECT_EQ(compare(expected, got, 1e-4).wrong_elements, 0);
  EXPECT_EQ(compare(expected.slice(0, kChunk), got.slice(0, kChunk), 1e-4).wrong_elements, 1);
}

TEST(ToleranceFor, GoesByTypeAndRow) {
  EXPECT_EQ(tolerance_for("native", at::kFloat), 1e-4);
  EXPECT_EQ(tolerance_for("native", at::kDouble), 1e-4);
  EXPECT_EQ(tolerance_for("tf32", at::kFloat), 1e-3);
  for (const char* row : {"native", "tf32", "fp16", "bf16"}) {
    EXPECT_EQ(tolerance_for(row, at::kHalf), 1e-2);
    EXPECT_EQ(tolerance_for(row, at::kBFloat16), 1e-2);
  }
}

/// Values on all sides of what a tolerance decides, against each other.
std::pair<at::Tensor, at::Tensor> edges(at::ScalarType dtype) {
  auto values = at::tensor({0.0f, 5e-5f, 1e-4f, 1.5e-4f, 1.0f, 1.0001f, 1.00021f, 1.5f, 100.0f,
                            100.02f, 65000.0f, -1.0f, -1.0001f, kInfF, -kInfF, kNanF});
  if (!at::isFloatingType(dtype)) values = at::tensor({0, 1, 9999, 10000, 10001, 10002, -10001});
  const auto count = values.numel();
  return {values.repeat_interleave(count).to(dtype), values.repeat({count}).to(dtype)};
}

TEST(Compare, AllcloseAtIsTheLeastToleranceThatDoes) {
  at::manual_seed(9);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kLong}) {
    const auto expected = (at::randn({3000}, at::kDouble) * 50).to(dtype);
    const auto got = (expected * (1 + at::randn({3000}, at::kDouble) * 0.05)).to(dtype);
    const double least = compare(expected, got, 0).allclose_at;
    const auto holds = [&](double t) {  // relative to what is expected, so the other way round
      return at::allclose(got.to(at::kDouble), expected.to(at::kDouble), t, t);
    };
    EXPECT_TRUE(holds(least * (1 + 1e-9))) << dtype;
    EXPECT_FALSE(holds(least * (1 - 1e-9))) << dtype;
    EXPECT_EQ(compare(expected, expected.clone(), 0).allclose_at, 0);
  }
}

TEST(Compare, NothingIsCloseToNan) {
  const auto at = [](float e, float g) {
    return compare(at::tensor({e, 1.0f}), at::tensor({g, 1.0f}), 0).allclose_at;
  };
  EXPECT_EQ(at(kInfF, kInfF), 0);
  EXPECT_EQ(at(kInfF, -kInfF), kInf);
  EXPECT_EQ(at(1, kInfF), kInf);
  EXPECT_EQ(at(1, kNanF), kInf);
  EXPECT_EQ(at(kNanF, kNanF), kInf);
  EXPECT_EQ(at(1, 2), 0.5);
}

TEST(ComparisonRules, AllcloseIsTorchsElementByElement) {
  const auto& rule = comparison_rule("kb_fp32");
  EXPECT_EQ(rule.name, "allclose");
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kInt})
    for (const double tolerance : {1e-4, 1e-2}) {
      const auto [expected, got] = edges(dtype);
      const auto close = at::isclose(expected, got, tolerance, tolerance);
      EXPECT_EQ(compare(expected, got, tolerance, rule).wrong_elements,
                close.logical_not().sum().item<std::int64_t>())
          << at::toString(dtype);
      for (std::int64_t i = 0; i < expected.numel(); ++i) {
        const auto e = expected.slice(0, i, i + 1), g = got.slice(0, i, i + 1);
        EXPECT_EQ(compare(e, g, tolerance, rule).wrong_elements == 0,
                  at::allclose(e, g, tolerance, tolerance))
            << e << g;
      }
    }
}

TEST(ComparisonRules, AllcloseKnowsNoScaleAndNoNan) {
  const auto& rule = comparison_rule("kb_fp16");
  const auto tiny = at::full({1000}, 1e-5f);
  EXPECT_EQ(compare(tiny, at::zeros({1000}), 1e-4, rule).wrong_elements, 0);
  EXPECT_EQ(compare(tiny, at::zeros({1000}), 1e-4).wrong_elements, 1000);
  // What kbench makes of it is told all the same.
  EXPECT_GT(compare(tiny, at::zeros({1000}), 1e-4, rule).max_rel_error, 0.4);
  const auto nan = at::full({3}, kNanF);
  EXPECT_EQ(compare(nan, nan.clone(), 1e-4, rule).wrong_elements, 3);
  EXPECT_EQ(compare(nan, nan.clone(), 1e-4).wrong_elements, 0);
}

TEST(ComparisonRules, EachFindsTheFirstWrongElementAcrossChunks) {
  ASSERT_THAT(comparison_rules(), SizeIs(2));
  for (const ComparisonRule& rule : comparison_rules()) {
    const auto expected = signs(kChunk + 10);
    auto got = expected.clone();
    got[kChunk + 3] += 1;
    const auto result = compare(expected, got, 1e-4, rule);
    EXPECT_EQ(result.wrong_elements, 1) << rule.name;
    ASSERT_TRUE(result.first_wrong) << rule.name;
    EXPECT_THAT(result.first_wrong->index, ElementsAre(kChunk + 3));
  }
  EXPECT_EQ(comparison_rule("native").name, "scaled");
  for (const auto& row : kKernelbenchRows) {
    EXPECT_EQ(tolerance_for(row.name, at::kFloat), row.tolerance);
    EXPECT_EQ(tolerance_for(row.name, at::kLong), row.tolerance);
  }
}

TEST(PrecisionRows, GoFromStrictToLooseUnderTheirOwnNames) {
  const auto rows = precision_rows();
  ASSERT_FALSE(rows.empty());
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    EXPECT_LT(rows[i].tolerance, rows[i + 1].tolerance);
    EXPECT_NE(rows[i].name, rows[i + 1].name);
  }
}

std::string_view looks_like(const at::Tensor& expected, const at::Tensor& got) {
  const auto* row =
      row_looked_like(compare(expected, got, 1e-4).max_rel_error, norm_error(expected, got));
  return row == nullptr ? "none" : row->name;
}

TEST(PrecisionRows, AreToldByTheLargestErrorOrByTheNorm) {
  const auto expected = signs(10000);
  const auto off_by = [&](double error) { return expected * (1 + 2 * error); };
  EXPECT_EQ(looks_like(expected, off_by(5e-5)), "fp32");
  EXPECT_EQ(looks_like(expected, off_by(2e-3)), "tf32");
  EXPECT_EQ(looks_like(expected, off_by(8e-3)), "fp16");
  EXPECT_EQ(looks_like(expected, off_by(3e-2)), "none");
  // As products in TF32 do that are chained, over millions of elements.
  auto spread = expected * (1 + 4e-4);
  spread[16] = 1 + 2.4e-2;
  EXPECT_EQ(looks_like(expected, spread), "tf32");
  // One that stands out is no rounding.
  auto wrong = expected.clone();
  wrong[16] = 1 + 2.4e-2;
  EXPECT_EQ(looks_like(expected, wrong), "none");
}

TEST(NormError, IsOfTheWholeTensorInDoublePrecision) {
  const auto expected = at::ones({3 << 20});  // more than a chunk
  EXPECT_EQ(norm_error(expected, expected), 0);
  EXPECT_NEAR(norm_error(expected, expected * 1.5), 0.5, 1e-12);
  EXPECT_NEAR(norm_error(expected * 1e30, expected * 1.5e30), 0.5, 1e-6);
  auto one = expected.clone();
  one[1] = kNanF;
  EXPECT_TRUE(std::isinf(norm_error(expected, one)));
  EXPECT_TRUE(std::isinf(norm_error(at::zeros({4}), at::zeros({4}))));
}

TEST(NormError, IsAtMostTwiceTheLargestErrorOfAnElement) {
  at::manual_seed(1);
  for (const double spread : {0.0, 3.0, 8.0}) {
    // From all of one size to a few that are most of the norm.
    const auto expected = at::randn({4096}) * (at::randn({4096}) * spread).exp();
    const auto got = expected + at::randn({4096}) * 1e-3 * expected.abs().max();
    const double largest = compare(expected, got, 1e-4).max_rel_error;
    EXPECT_LE(norm_error(expected, got), 2 * largest) << spread;
  }
  // Each element as far off as the bound allows: it is no larger than that, and no smaller.
  const auto ones = at::ones({64});
  EXPECT_NEAR(norm_error(ones, ones + 2e-4), 2 * compare(ones, ones + 2e-4, 1e-4).max_rel_error,
              1e-6);
}

TEST(SameBits, SeesWhatEqualityDoesNot) {
  const auto zero = at::zeros({3}), minus = -at::zeros({3});
  EXPECT_TRUE(at::equal(zero, minus));
  EXPECT_FALSE(same_bits(zero, minus));
  const auto nan = at::full({3}, kNanF);
  EXPECT_FALSE(at::equal(nan, nan.clone()));
  EXPECT_TRUE(same_bits(nan, nan.clone()));
}

TEST(SameBits, WorksForEveryTypeShapeAndStride) {
  at::manual_seed(4);
  for (const auto dtype :
       {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble, at::kLong, at::kBool, at::kByte}) {
    const auto t = at::randint(0, 2, {5, 3}).to(dtype);
    EXPECT_TRUE(same_bits(t, t.clone())) << at::toString(dtype);
    EXPECT_TRUE(same_bits(t.t(), t.t().contiguous())) << at::toString(dtype);
    auto other = t.clone();
    other[4][2] = t[4][2].eq(0).to(dtype);
    EXPECT_FALSE(same_bits(t, other)) << at::toString(dtype);
  }
  EXPECT_TRUE(same_bits(at::empty({0}), at::empty({0})));
  EXPECT_TRUE(same_bits(at::scalar_tensor(1.0), at::scalar_tensor(1.0)));
  EXPECT_FALSE(same_bits(at::scalar_tensor(1.0), at::scalar_tensor(1.5)));
}

}  // namespace
}  // namespace kbench::worker
