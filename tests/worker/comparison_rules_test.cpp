// SPDX-License-Identifier: MIT
// The rules that decide which elements are right, and the precision that errors look like.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "score/kernelbench.hpp"
#include "worker/compare/compare.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/compare_samples.hpp"

namespace kbench::worker {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(ToleranceFor, GoesByTypeAndRow) {
  EXPECT_EQ(tolerance_for("native", at::kFloat), 1e-4);
  EXPECT_EQ(tolerance_for("native", at::kDouble), 1e-4);
  EXPECT_EQ(tolerance_for("tf32", at::kFloat), 1e-3);
  for (const char* row : {"native", "tf32", "fp16", "bf16"}) {
    EXPECT_EQ(tolerance_for(row, at::kHalf), 1e-2);
    EXPECT_EQ(tolerance_for(row, at::kBFloat16), 1e-2);
  }
}

/// All pairs of values within and beyond the tolerances.
std::pair<at::Tensor, at::Tensor> edges(at::ScalarType dtype) {
  auto values = at::tensor({0.0f, 5e-5f, 1e-4f, 1.5e-4f, 1.0f, 1.0001f, 1.00021f, 1.5f, 100.0f,
                            100.02f, 65000.0f, -1.0f, -1.0001f, kInfF, -kInfF, kNanF});
  if (!at::isFloatingType(dtype)) values = at::tensor({0, 1, 9999, 10000, 10001, 10002, -10001});
  const auto count = values.numel();
  return {values.repeat_interleave(count).to(dtype), values.repeat({count}).to(dtype)};
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
  // kbench's own errors are computed as well.
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
  // Like chained products in TF32 over millions of elements.
  auto spread = expected * (1 + 4e-4);
  spread[16] = 1 + 2.4e-2;
  EXPECT_EQ(looks_like(expected, spread), "tf32");
  // A single large error is no rounding.
  auto wrong = expected.clone();
  wrong[16] = 1 + 2.4e-2;
  EXPECT_EQ(looks_like(expected, wrong), "none");
}

TEST(NormError, IsOfTheWholeTensorInDoublePrecision) {
  const auto expected = at::ones({3 << 20});  // more than one chunk
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
    // From equal sizes to a few elements that are most of the norm.
    const auto expected = at::randn({4096}) * (at::randn({4096}) * spread).exp();
    const auto got = expected + at::randn({4096}) * 1e-3 * expected.abs().max();
    const double largest = compare(expected, got, 1e-4).max_rel_error;
    EXPECT_LE(norm_error(expected, got), 2 * largest) << spread;
  }
  // The largest error that the bound allows, in each element: the norm reaches the bound.
  const auto ones = at::ones({64});
  EXPECT_NEAR(norm_error(ones, ones + 2e-4), 2 * compare(ones, ones + 2e-4, 1e-4).max_rel_error,
              1e-6);
}

TEST(FiniteWhere, AnotherOneIs) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto other = at::tensor({1.0F, kInf, -kInf, NAN, 0.0F});
  EXPECT_TRUE(finite_where(at::tensor({1.0F, 2.0F, kInf, NAN, 3.0F}), other));
  EXPECT_TRUE(finite_where(at::zeros({5}), other));
  for (const float odd : {kInf, -kInf, NAN}) {
    EXPECT_FALSE(finite_where(at::tensor({odd, 2.0F, 2.0F, 2.0F, 2.0F}), other));
    EXPECT_FALSE(finite_where(at::tensor({2.0F, 2.0F, 2.0F, 2.0F, odd}), other));
  }
  // In the last of several chunks, and in memory with gaps.
  auto large = at::zeros({2, 3 << 20});
  const auto columns = large.t();
  EXPECT_TRUE(finite_where(columns, at::zeros(columns.sizes())));
  large[1][(3 << 20) - 1] = kInf;
  EXPECT_FALSE(finite_where(columns, at::zeros(columns.sizes())));
  EXPECT_TRUE(finite_where(at::zeros(columns.sizes()), columns));
}

}  // namespace
}  // namespace kbench::worker
