// SPDX-License-Identifier: MIT
#include "worker/compare/wrong_pattern.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/compare_samples.hpp"

namespace kbench::worker {
namespace {

using at::indexing::Slice;

/// What a change of the elements in `where` of a tensor of this shape is described as.
std::string where_of(at::IntArrayRef shape,
                     std::initializer_list<at::indexing::TensorIndex> where) {
  const auto expected = at::ones(shape);
  auto got = expected.clone();
  got.index_put_(where, 7);
  const auto pattern = wrong_pattern(expected, got, 1e-4);
  return pattern ? pattern->where : "nothing";
}

/// What another answer to standard normal numbers is described as.
template <typename Change>
std::string values_of(Change change) {
  at::manual_seed(1);
  const auto expected = at::randn({1000});
  return wrong_pattern(expected, change(expected.clone()), 1e-4)->values;
}

TEST(WrongPattern, EqualTensorsHaveNone) {
  EXPECT_FALSE(wrong_pattern(at::ones({4, 4}), at::ones({4, 4}), 1e-4));
  EXPECT_FALSE(wrong_pattern(at::ones({0}), at::ones({0}), 1e-4));
}

TEST(WrongPattern, CountsTheElements) {
  auto got = at::ones({10, 10});
  got[3] = 2;
  const auto pattern = wrong_pattern(at::ones({10, 10}), got, 1e-4);
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->wrong, 10);
  EXPECT_EQ(pattern->elements, 100);
}

TEST(WrongPattern, NamesAll) {
  EXPECT_EQ(where_of({8, 9}, {Slice()}), "all elements");
  const auto one = wrong_pattern(at::ones({}), at::zeros({}), 1e-4);
  EXPECT_EQ(one->where, "all elements");
}

TEST(WrongPattern, NamesATail) {
  EXPECT_EQ(where_of({1000}, {Slice(872)}), "the last 128 elements");
  auto got = at::ones({16, 1000});
  got.view(-1).slice(0, 16000 - 1128).fill_(3);
  EXPECT_EQ(wrong_pattern(at::ones({16, 1000}), got, 1e-4)->where, "the last 1128 elements");
}

TEST(WrongPattern, NamesATailBehindChunksOfALongOutput) {
  auto got = at::ones({3 * kChunk + 5});
  got.slice(0, 3 * kChunk - 2).fill_(3);
  EXPECT_EQ(wrong_pattern(at::ones({3 * kChunk + 5}), got, 1e-4)->where, "the last 7 elements");
}

TEST(WrongPattern, NamesRowsAndColumns) {
  EXPECT_EQ(where_of({128, 50}, {5}), "row 5");
  EXPECT_EQ(where_of({128, 50}, {Slice(96)}), "the last 32 rows");
  EXPECT_EQ(where_of({128, 50}, {Slice(0, 2)}), "the first 2 rows");
  EXPECT_EQ(where_of({128, 50}, {Slice(32, 64)}), "rows 32 to 63");
  EXPECT_EQ(where_of({128, 50}, {Slice(), 49}), "column 49");
  EXPECT_EQ(where_of({128, 50}, {Slice(), Slice(3, at::nullopt, 4)}),
            "every 4th column, from column 3");
  EXPECT_EQ(where_of({128, 50}, {Slice(10, 20), Slice(5, 15)}), "rows 10 to 19, columns 5 to 14");
}

TEST(WrongPattern, NamesDimensionsOfTensorsWithMore) {
  EXPECT_EQ(where_of({4, 5, 6}, {3}), "index 3 of dimension 0");
  EXPECT_EQ(where_of({4, 6, 6}, {Slice(), Slice(3)}), "the last 3 indices of dimension 1");
  EXPECT_EQ(where_of({4, 6, 64}, {Slice(), Slice(), Slice(1, at::nullopt, 2)}),
            "every 2nd index of dimension 2, from 1");
}

TEST(WrongPattern, NamesPeriodsOfVectorsAndWarps) {
  EXPECT_EQ(where_of({1000}, {Slice(3, at::nullopt, 4)}), "every 4th element, from element 3");
  auto got = at::ones({33, 31});
  got.view(-1).slice(0, 31, at::nullopt, 32).fill_(3);
  EXPECT_EQ(wrong_pattern(at::ones({33, 31}), got, 1e-4)->where,
            "every 32nd element, from element 31");
  const auto upper_half = at::arange(4096).remainder(32).ge(16);
  EXPECT_EQ(where_of({4096}, {upper_half}), "elements whose number modulo 32 is 16 to 31");
}

TEST(WrongPattern, ElementsThatAreRightByChanceDoNotHideIt) {
  at::manual_seed(2);
  const auto by_chance = [](double share) {
    auto got = at::ones({100, 100});
    got.slice(0, 50).masked_fill_(at::rand({50, 100}).lt(share), 3);
    return wrong_pattern(at::ones({100, 100}), got, 1e-4)->where;
  };
  EXPECT_EQ(by_chance(0.97), "nearly all of the last 50 rows");
  EXPECT_EQ(by_chance(0.5), "only in the last 50 rows");
}

TEST(WrongPattern, ScatteredElementsHaveNoPlace) {
  at::manual_seed(3);
  for (const double share : {0.001, 0.01, 0.5, 0.99}) {
    auto got = at::ones({100, 100});
    got.masked_fill_(at::rand({100, 100}).lt(share), 3);
    EXPECT_EQ(wrong_pattern(at::ones({100, 100}), got, 1e-4)->where, "") << share;
  }
}

TEST(WrongPattern, NamesWhatTheValuesHaveInCommon) {
  EXPECT_EQ(values_of([](const at::Tensor& t) { return t * kNanF; }), "all nan");
  EXPECT_EQ(values_of([](const at::Tensor& t) { return t * 0; }), "all 0");
  EXPECT_EQ(values_of([](const at::Tensor& t) { return t * 0 + kInfF; }), "all inf");
  EXPECT_EQ(values_of([](const at::Tensor& t) { return t * 2; }),
            "each 2 times the expected value");
  EXPECT_EQ(values_of([](const at::Tensor& t) { return t / 4; }),
            "each 0.25 times the expected value");
  EXPECT_EQ(values_of([](const at::Tensor& t) { return -t; }), "each with the opposite sign");
  EXPECT_EQ(values_of([](const at::Tensor& t) { return t + 0.25; }),
            "each 0.25 above the expected value");
  EXPECT_EQ(values_of([](const at::Tensor& t) { return t - 3; }),
            "each 3 below the expected value");
  EXPECT_EQ(values_of([](const at::Tensor& t) { return t.exp(); }), "");
  EXPECT_EQ(values_of([](at::Tensor t) { return t.slice(0, 0, 20).fill_(kNanF), t.neg_(); }),
            "20 of them nan");
}

TEST(WrongPattern, IntegersAreComparedExactly) {
  const auto expected = at::arange(1000000, 1001000);
  EXPECT_EQ(wrong_pattern(expected, expected + 1, 1e-4)->values, "each 1 above the expected value");
  const auto flags = at::ones({100}, at::kBool);
  EXPECT_EQ(wrong_pattern(flags, flags.logical_not(), 1e-4)->values, "all 0");
}

TEST(WrongPattern, NarrowTypesAreComparedWithWideOnes) {
  at::manual_seed(4);
  const auto expected = at::randn({500});
  EXPECT_EQ(wrong_pattern(expected, (expected * 2).to(at::kHalf), 1e-2)->values,
            "each 2 times the expected value");
}

TEST(WrongPattern, OtherStridesAreNoDifference) {
  const auto expected = at::ones({30, 20});
  auto got = at::ones({20, 30}).t();
  got[4].fill_(2);
  EXPECT_EQ(wrong_pattern(expected, got, 1e-4)->where, "row 4");
}

TEST(WrongPattern, TheSettledAnswerCounts) {
  auto got = at::ones({100});
  got[3] = 9;
  got[7] = 9;
  const Settle settle = [](const at::Tensor& part, std::int64_t) { return part.clone().fill_(1); };
  const auto& rule = comparison_rules().front();
  EXPECT_FALSE(wrong_pattern(at::ones({100}), got, 1e-4, rule, settle));
}

TEST(WrongPattern, IsOneSentence) {
  EXPECT_EQ(to_text({.output = 1,
                     .wrong = 128,
                     .elements = 16000,
                     .where = "the last 128 elements",
                     .values = "all nan"}),
            "0.8 % of output 1: the last 128 elements, all nan");
  EXPECT_EQ(to_text({.wrong = 8, .elements = 8, .where = "all elements", .values = "all 0"}),
            "all of output 0: all 0");
  EXPECT_EQ(to_text({.wrong = 999, .elements = 1000, .where = "", .values = ""}),
            "over 99 % of output 0");
  EXPECT_EQ(to_text({.wrong = 1, .elements = 3000000, .where = "", .values = ""}),
            "3.3e-05 % of output 0");
}

}  // namespace
}  // namespace kbench::worker
