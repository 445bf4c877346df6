// SPDX-License-Identifier: MIT
#include "worker/compare/compare.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "worker/compare/element_counts.hpp"
#include "worker/compare_samples.hpp"

namespace kbench::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kInf = std::numeric_limits<double>::infinity();

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
  got[10] += 0.016;  // of |8| + rms 8 = 16
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
  // For the second chunk alone, the scale is a thousand times smaller.
  auto expected = at::cat({signs(kChunk) * 1000, signs(kChunk)});
  auto got = expected.clone();
  got[2 * kChunk - 1] += 0.01;
  EXPECT_EQ(compare(expected, got, 1e-4).wrong_elements, 0);
  EXPECT_EQ(compare(expected.slice(0, kChunk), got.slice(0, kChunk), 1e-4).wrong_elements, 1);
}

TEST(Compare, AllcloseAtIsTheLeastToleranceThatDoes) {
  at::manual_seed(9);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kLong}) {
    const auto expected = (at::randn({3000}, at::kDouble) * 50).to(dtype);
    const auto got = (expected * (1 + at::randn({3000}, at::kDouble) * 0.05)).to(dtype);
    const double least = compare(expected, got, 0).allclose_at;
    const auto holds = [&](double t) {  // allclose is relative to its second argument
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
