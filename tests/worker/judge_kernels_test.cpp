// SPDX-License-Identifier: MIT
#include "worker/device/judge_kernels.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "ptx/nvrtc_helper.hpp"
#include "worker/compare/compare.hpp"
#include "worker/compare/content_digest.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/compare/expected_output.hpp"
#include "worker/kernels/texts.hpp"
#include "worker/reference/input_set.hpp"

namespace kbench::worker {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr at::ScalarType kTypes[] = {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong,
                                     at::kInt,   at::kShort,  at::kChar, at::kByte,     at::kBool};

JudgeKernels::Data data(const at::Tensor& tensor) { return {tensor.data_ptr(), tensor.nbytes()}; }

/// Compares the results of the kernels on the CPU executor with those of torch's operators.
class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    KBENCH_NEEDS_NVRTC();
    image_ = ptx::testing::compile(std::string(run::kTimingKernelsText) +
                                   std::string(run::kJudgeKernelsText));
    at::manual_seed(7);
  }

  template <typename Work>
  auto with_kernels(Work&& work) {
    const auto device = open_cpu_device();
    const JudgeKernels kernels(*device, image_);
    return work();
  }

  struct Pair {
    std::string what;
    at::Tensor expected, got;
    double tolerance = 1e-4;
  };

  /// Uses kernels that are loaded once.
  void expect_same_comparisons(const std::vector<Pair>& pairs) {
    const auto compared = [&] {
      std::vector<Comparison> comparisons;
      comparisons.reserve(pairs.size());
      for (const auto& [what, expected, got, tolerance] : pairs)
        comparisons.push_back(compare(expected, got, tolerance));
      return comparisons;
    };
    const auto torch = compared();
    const auto ours = with_kernels(compared);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      SCOPED_TRACE(pairs[i].what);
      expect_same(torch[i], ours[i]);
    }
  }

  void expect_same_comparison(const at::Tensor& expected, const at::Tensor& got, double tolerance) {
    expect_same_comparisons({{"", expected, got, tolerance}});
  }

  static void expect_same(const Comparison& torch, const Comparison& ours) {
    EXPECT_EQ(ours.wrong_elements, torch.wrong_elements);
    EXPECT_EQ(ours.max_abs_error, torch.max_abs_error);
    if (std::isinf(torch.max_rel_error))
      EXPECT_EQ(ours.max_rel_error, torch.max_rel_error);
    else
      EXPECT_NEAR(ours.max_rel_error, torch.max_rel_error, 1e-12 * (1 + torch.max_rel_error));
    if (std::isinf(torch.allclose_at))
      EXPECT_EQ(ours.allclose_at, torch.allclose_at);
    else
      EXPECT_NEAR(ours.allclose_at, torch.allclose_at, 1e-12 * (1 + torch.allclose_at));
    ASSERT_EQ(ours.first_wrong.has_value(), torch.first_wrong.has_value());
    if (!torch.first_wrong) return;
    EXPECT_EQ(ours.first_wrong->index, torch.first_wrong->index);
    EXPECT_EQ(ours.first_wrong->expected, torch.first_wrong->expected);
    EXPECT_EQ(ours.first_wrong->got, torch.first_wrong->got);
  }

  std::string image_;
};

at::Tensor draw(std::int64_t count, at::ScalarType type) {
  return (at::randn({count}) * 40).to(type);
}

TEST_F(Kernels, CompareAsTorchDoesForEveryTypeAndSize) {
  std::vector<Pair> pairs;
  for (const auto type : kTypes)
    for (const std::int64_t count : {1, 3, 16, 4095, 70'001}) {
      const auto what = fmt::format("{} × {}", at::toString(type), count);
      const auto expected = draw(count, type);
      pairs.push_back({what, expected, expected.clone()});
      auto got = expected.clone();
      got[count / 2] = at::isFloatingType(type) ? expected[count / 2] * 1.5 + 1
                                                : expected[count / 2].logical_not().to(type);
      got[count - 1] = got[count / 2];
      pairs.push_back({what + ", two wrong", expected, got});
    }
  expect_same_comparisons(pairs);
}

TEST_F(Kernels, CompareNarrowOutputsWithAWiderExpectedOutput) {
  std::vector<Pair> pairs;
  for (const auto type : {at::kHalf, at::kBFloat16})
    for (const std::int64_t count : {1, 7, 8, 4095, 70'001}) {
      const auto what = fmt::format("{} × {}", at::toString(type), count);
      const auto expected = draw(count, at::kFloat);
      auto got = expected.to(type);
      pairs.push_back({what, expected, got.clone(), 1e-3});
      got[count / 2] = kNan;
      got[count - 1] = 300;
      pairs.push_back({what + ", two wrong", expected, got, 1e-2});
      pairs.push_back({what + ", without the first", expected.slice(0, 1), got.slice(0, 1), 1e-2});
    }
  expect_same_comparisons(pairs);
}

TEST_F(Kernels, CountErrorsOnBothSidesOfTheTolerance) {
  const auto expected = draw(50'000, at::kFloat);
  std::vector<Pair> pairs;
  for (const double noise : {1e-6, 1e-5, 1e-4, 1e-3})
    pairs.push_back({fmt::format("noise of {}", noise), expected,
                     expected * (1 + noise * at::randn({50'000})), 1e-5});
  expect_same_comparisons(pairs);
}

TEST_F(Kernels, AgreeWithTorchOnWhatIsNoNumber) {
  const std::vector<double> values{0, -0.0, 1, -2.5, kInf, -kInf, kNan, 1e30, 1e-40};
  std::vector<Pair> pairs;
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16})
    for (const double e : values)
      for (const double g : values) {
        auto expected = at::ones({40}).to(type);
        auto got = expected.clone();
        expected[17] = e;
        got[17] = g;
        pairs.push_back(
            {fmt::format("{}: {} against {}", at::toString(type), e, g), expected, got});
      }
  expect_same_comparisons(pairs);
}

TEST_F(Kernels, TakeDeviationsFromWhatIsNotFiniteAsTorchDoes) {
  // Expected values are exact in each type, so each deviates in the same way.
  const std::vector<double> expectable{0, 1, -2.5, kInf, -kInf, kNan, 8'192};
  const std::vector<double> given{0, 1, -2.5, kInf, -kInf, kNan, 8'192, 1e4, -3e4};
  const std::pair<at::ScalarType, at::ScalarType> types[] = {
      {at::kFloat, at::kFloat},       {at::kDouble, at::kDouble}, {at::kHalf, at::kHalf},
      {at::kBFloat16, at::kBFloat16}, {at::kFloat, at::kHalf},    {at::kFloat, at::kBFloat16}};
  struct Case {
    std::string what;
    ExpectedOutput expected_output;
    at::Tensor got;
  };
  std::vector<Case> cases;
  for (const auto& [wide, narrow] : types)
    for (const double e : expectable)
      for (const double g : given) {
        auto expected = at::ones({4100}).to(wide);
        auto got = at::ones({4100}).to(narrow);
        expected[4097] = e;
        got[4097] = g;
        ExpectedOutput expected_output{expected, std::nullopt, 0, 1};
        expected_output.non_finite = true;
        cases.push_back({fmt::format("{} for {}: {} against {}", at::toString(narrow),
                                     at::toString(wide), g, e),
                         std::move(expected_output), got});
      }
  const auto found = [&] {
    std::vector<std::pair<Comparison, std::uint64_t>> all;
    all.reserve(cases.size());
    for (const Case& one : cases)
      all.emplace_back(one.expected_output.compared(one.got, 1e-3),
                       one.expected_output.deviations(one.got));
    return all;
  };
  auto torch = found();
  auto ours = with_kernels(found);
  std::set<std::uint64_t> kinds;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].what);
    // allclose is not defined here, because another value may replace a NaN.
    torch[i].first.allclose_at = ours[i].first.allclose_at = 0;
    expect_same(torch[i].first, ours[i].first);
    EXPECT_EQ(ours[i].second, torch[i].second);
    kinds.insert(ours[i].second);
  }
  EXPECT_EQ(kinds, (std::set<std::uint64_t>{0, 1, 2, 4}));
}

TEST_F(Kernels, FindWhatIsOddWhereTheOtherIsNot) {
  const auto found = [] {
    std::vector<bool> all;
    for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16})
      for (const double odd : {kInf, -kInf, kNan})
        for (const std::int64_t place : {0, 2047, 4098}) {
          const auto finite = at::ones({4099}).to(type);
          auto tensor = finite.clone();
          tensor[place] = odd;
          for (const auto& [own, beside] :
               {std::pair{tensor, finite}, {finite, tensor}, {tensor, tensor}, {finite, finite}})
            for (const std::int64_t from : {0, 1})
              all.push_back(finite_where(own.slice(0, from), beside.slice(0, from)));
        }
    return all;
  };
  const auto torch = found();
  EXPECT_EQ(with_kernels(found), torch);
  EXPECT_THAT(torch, testing::Contains(true));
  EXPECT_THAT(torch, testing::Contains(false));
}

TEST_F(Kernels, ScaleHugeDoublesWithoutOverflow) {
  const auto expected = at::randn({1000}, at::kDouble) * 1e200;
  expect_same_comparison(expected, expected * (1 + 1e-6), 1e-7);
}

TEST_F(Kernels, TakeTensorsThatAreNotAligned) {
  const auto expected = draw(5001, at::kFloat);
  auto got = expected.clone();
  got[4000] += 50;
  expect_same_comparison(expected.slice(0, 1), got.slice(0, 1), 1e-4);
  expect_same_comparison(expected.slice(0, 2), got.slice(0, 1, 5000), 1e-4);
  expect_same_comparison(expected.view({3, -1}).t(), got.view({3, -1}).t(), 1e-4);
}

TEST_F(Kernels, SeeEveryChangedBit) {
  with_kernels([] {
    for (const std::int64_t count : {1, 7, 8, 9, 4099}) {
      const auto bytes = at::randint(256, {count}, at::kByte);
      const auto before = content_digest(bytes);
      EXPECT_TRUE(same_bits(bytes, bytes.clone()));
      for (const std::int64_t at : {std::int64_t{0}, count / 2, count - 1}) {
        auto changed = bytes.clone();
        changed[at] = changed[at].bitwise_xor(16);
        EXPECT_FALSE(same_bits(bytes, changed));
        EXPECT_NE(content_digest(changed), before);
      }
    }
  });
}

TEST_F(Kernels, DigestSeesSwappedWords) {
  const auto words = at::arange(100, at::kLong);
  auto swapped = words.clone();
  swapped[3] = 90;
  swapped[90] = 3;
  with_kernels([&] { EXPECT_NE(content_digest(words), content_digest(swapped)); });
}

TEST_F(Kernels, DigestsNeedTheirKey) {
  const auto words = at::randint(1 << 30, {4099}, at::kLong);
  const DigestKey key{1, 3}, other{2, 3}, third{1, 5};
  with_kernels([&] {
    JudgeKernels& kernels = *JudgeKernels::active();
    const auto with = [&](const DigestKey& one) { return kernels.digest(data(words), one); };
    EXPECT_EQ(with(key), with(key));
    EXPECT_EQ((std::set{with(key), with(other), with(third)}.size()), 3u);
    // Changes that leave the sum of the words equal.
    auto moved = words.clone();
    moved[7] += 1;
    moved[8] -= 1;
    EXPECT_NE(kernels.digest(data(moved), key), with(key));
  });
}

TEST_F(Kernels, DigestAsTheProcessorDoes) {
  for (const std::int64_t count : {1, 7, 8, 9, 4099}) {
    const auto bytes = at::randint(256, {count}, at::kByte);
    EXPECT_EQ(with_kernels([&] { return content_digest(bytes); }), content_digest(bytes)) << count;
  }
}

TEST(Digest, EveryProcessHasAKeyOfItsOwn) {
  const DigestKey own = digest_key();
  EXPECT_EQ(own.step % 2, 1u);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  if (fork() == 0) {
    const DigestKey forked = digest_key();
    _exit(write(ends[1], &forked, sizeof forked) == sizeof forked ? 0 : 1);
  }
  DigestKey forked{};
  ASSERT_EQ(read(ends[0], &forked, sizeof forked), static_cast<ssize_t>(sizeof forked));
  wait(nullptr);
  EXPECT_NE(forked.flip, own.flip);
  EXPECT_NE(forked.step, own.step);
  EXPECT_EQ(digest_key().flip, own.flip);
}

TEST_F(Kernels, CopyAndGiveTheDigestOfWhatTheyRead) {
  with_kernels([] {
    for (const std::int64_t words : {1, 2, 255, 4099}) {
      const auto from = at::randint(1 << 30, {words}, at::kLong);
      auto to = at::zeros_like(from);
      ASSERT_TRUE(JudgeKernels::can_copy(data(from), data(to)));
      EXPECT_EQ(static_cast<std::int64_t>(
                    JudgeKernels::active()->copy(data(from), data(to), digest_key())),
                content_digest(from));
      EXPECT_TRUE(same_bits(from, to));
    }
    const auto bytes = at::zeros({24}, at::kByte);
    EXPECT_FALSE(JudgeKernels::can_copy(data(bytes.slice(0, 0, 7)), data(bytes.slice(0, 8, 15))));
    EXPECT_FALSE(JudgeKernels::can_copy(data(bytes.slice(0, 1, 9)), data(bytes.slice(0, 16, 24))));
    EXPECT_FALSE(JudgeKernels::can_copy(data(bytes.slice(0, 0, 8)), data(bytes.slice(0, 8, 24))));
    EXPECT_FALSE(JudgeKernels::can_copy(data(bytes.slice(0, 0, 0)), data(bytes.slice(0, 8, 8))));
  });
}

TEST_F(Kernels, TellWholeNumbersThatAreExactInTheirType) {
  struct Case {
    at::ScalarType type;
    double value;
    bool whole;
  };
  const std::vector<Case> cases{
      {at::kFloat, 16777216, true}, {at::kFloat, -16777216, true}, {at::kFloat, 33554432, false},
      {at::kFloat, 0.5, false},     {at::kFloat, kNan, false},     {at::kFloat, -kInf, false},
      {at::kDouble, 0x1p53, true},  {at::kDouble, 0x1p54, false},  {at::kHalf, 2048, true},
      {at::kHalf, 4096, false},     {at::kHalf, 1.5, false},       {at::kBFloat16, -256, true},
      {at::kBFloat16, 512, false},  {at::kBFloat16, 0.25, false},  {at::kLong, 3, false}};
  const auto found = [&] {
    std::vector<bool> all;
    for (const Case& one : cases)
      for (const std::int64_t place : {0, 2047, 4098}) {
        auto tensor = at::arange(4099).remainder(7).to(one.type);
        tensor[place] = one.value;
        all.push_back(all_whole({tensor}));
        all.push_back(all_whole({tensor.slice(0, 0, 0, 2), tensor}));
      }
    return all;
  };
  std::vector<bool> expected;
  for (const Case& one : cases) expected.insert(expected.end(), 6, one.whole);
  EXPECT_EQ(found(), expected);
  EXPECT_EQ(with_kernels(found), expected);
}

}  // namespace
}  // namespace kbench::worker
