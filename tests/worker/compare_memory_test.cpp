// SPDX-License-Identifier: MIT
// The memory that comparisons allocate, by an allocator that counts.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "worker/compare/compare.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/compare/expected_output.hpp"

namespace kbench::worker {
namespace {

constexpr std::size_t kMostBytes = 64'000'000;
/// More than twice the elements of the largest chunk, and divisible by nine.
constexpr std::int64_t kCount = (std::int64_t{10} << 20) + 5;

std::atomic<std::size_t> live{0}, peak{0};

/// malloc, with the size before the memory.
class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    auto* whole =
        static_cast<std::byte*>(std::aligned_alloc(kAlign, (bytes / kAlign + 2) * kAlign));
    *reinterpret_cast<std::size_t*>(whole) = bytes;
    const std::size_t now = live += bytes;
    peak = std::max(peak.load(), now);
    return {whole + kAlign, whole, &release, at::Device(at::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

 private:
  static constexpr std::size_t kAlign = 64;
  static void release(void* whole) {
    live -= *static_cast<std::size_t*>(whole);
    std::free(whole);
  }
};

class CompareMemory : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static CountingAllocator allocator;
    constexpr std::uint8_t kPriority = 100;  // higher than torch's own
    c10::SetCPUAllocator(&allocator, kPriority);
    at::set_num_threads(1);  // tests run in parallel, and threads would wait for each other
  }

  /// The most memory that the work allocates at a time, in bytes.
  template <typename Work>
  static std::size_t taken(Work&& work) {
    const std::size_t before = live;
    peak = before;
    work();
    return peak - before;
  }
};

TEST_F(CompareMemory, IsCounted) {
  EXPECT_EQ(taken([] { at::empty({1000}, at::kDouble); }), 8000u);
  EXPECT_GE(taken([] { at::zeros({kCount}).eq(1).sum(); }), 4u * kCount);
}

TEST_F(CompareMemory, StaysBelowItsLimitWhateverIsCompared) {
  at::manual_seed(5);
  for (const auto type : {at::kFloat, at::kHalf, at::kLong, at::kBool}) {
    const auto expected = (at::randn({kCount}) * 4).to(type);
    auto got = expected.clone();
    got[kCount - 1] = got[kCount - 1].logical_not();
    for (const auto& rule : comparison_rules())
      EXPECT_LT(taken([&] { compare(expected, got, 1e-4, rule); }), kMostBytes)
          << at::toString(type) << " " << rule.name;
    EXPECT_LT(taken([&] {
                compare(expected.view({-1, 9}).t(), got.view({-1, 9}).t(), 1e-4);
              }),
              kMostBytes)
        << at::toString(type) << ", strided";
    EXPECT_LT(taken([&] { norm_error(expected, got); }), kMostBytes);
    EXPECT_LT(taken([&] { count_filled(got, 0xff); }), kMostBytes);
    EXPECT_LT(taken([&] { is_constant(at::zeros({1}).to(type).expand({kCount})); }), kMostBytes);
    EXPECT_LT(taken([&] { all_finite({got}); }), kMostBytes);
    EXPECT_LT(taken([&] {
                same_bits(expected.view({-1, 9}).t(), got.view({-1, 9}).t());
              }),
              kMostBytes);
  }
}

TEST_F(CompareMemory, OfATruthStaysBelowItToo) {
  const auto exact = at::ones({kCount}, at::kDouble);
  auto output = exact.to(at::kHalf);
  output[3] = std::numeric_limits<double>::infinity();
  const ExpectedOutput expected_output = expected_outputs_of({output}, {exact}, {}).at(0);
  ASSERT_TRUE(expected_output.overflown.defined());
  EXPECT_LT(taken([&] { EXPECT_EQ(expected_output.compared(output, 1e-2).wrong_elements, 0); }),
            kMostBytes);
  EXPECT_LT(taken([ones = at::ones({2 * kCount})] { whole_tolerance(ones); }), kMostBytes);
}

/// Compares with a computation on the whole tensors.
TEST_F(CompareMemory, ChunksChangeNothing) {
  at::manual_seed(6);
  const auto expected = at::randn({kCount}, at::kDouble);
  auto got = expected * (1 + 3e-5 * at::randn({kCount}, at::kDouble));
  got[77] = std::numeric_limits<double>::quiet_NaN();
  const auto distance = (got - expected).abs();
  const auto relative =
      (distance / (expected.abs() + expected.square().mean().sqrt())).nan_to_num(1e9);
  const auto wrong = relative.gt(1e-5);
  const auto norm = [&] {
    const auto own = at::where(got.isnan(), expected, got);
    return ((own - expected).norm() / expected.norm()).item<double>();
  }();
  const auto found = compare(expected, got, 1e-5);
  EXPECT_EQ(found.wrong_elements, wrong.sum().item<std::int64_t>());
  EXPECT_EQ(found.first_wrong->index.at(0), wrong.to(at::kByte).argmax().item<std::int64_t>());
  EXPECT_TRUE(std::isinf(found.max_rel_error));
  EXPECT_TRUE(std::isinf(norm_error(expected, got)));
  got[77] = expected[77];
  EXPECT_NEAR(compare(expected, got, 1e-5).max_rel_error,
              at::where(relative.lt(1e8), relative, 0.0).max().item<double>(), 1e-12);
  EXPECT_NEAR(norm_error(expected, got), norm, 1e-12);

  const auto strided = expected.view({-1, 9}).t();
  const auto other = got.view({-1, 9}).t();
  const auto dense = compare(strided.contiguous(), other.contiguous(), 1e-5);
  const auto same = compare(strided, other, 1e-5);
  EXPECT_EQ(same.wrong_elements, dense.wrong_elements);
  EXPECT_EQ(same.first_wrong->index, dense.first_wrong->index);
  EXPECT_EQ(same.first_wrong->got, dense.first_wrong->got);
  EXPECT_EQ(same.max_rel_error, dense.max_rel_error);
}

TEST_F(CompareMemory, EveryFilledElementCounts) {
  for (const auto type : {at::kByte, at::kBool, at::kHalf, at::kFloat, at::kDouble,
                          at::kComplexFloat, at::kComplexDouble}) {
    auto tensor = at::zeros({kCount}, type);
    const auto width = static_cast<std::int64_t>(tensor.element_size());
    auto bytes = tensor.view(at::kByte);
    bytes.slice(0, 0, 3 * width).fill_(0x7f);
    bytes.slice(0, (kCount - 1) * width).fill_(0x7f);
    bytes[5 * width] = 0x7f;  // only a part of an element, unless elements have one byte
    EXPECT_EQ(count_filled(tensor, 0x7f), width == 1 ? 5 : 4) << at::toString(type);
    EXPECT_FALSE(is_constant(tensor)) << at::toString(type);
    bytes.fill_(0xff);
    EXPECT_EQ(count_filled(tensor, 0xff), kCount) << at::toString(type);
    EXPECT_EQ(count_filled(tensor, 0), 0) << at::toString(type);
  }
}

TEST_F(CompareMemory, OnlyElementsThatAreFilledInBothCount) {
  for (const auto type :
       {at::kByte, at::kBool, at::kHalf, at::kFloat, at::kDouble, at::kComplexDouble}) {
    auto one = at::zeros({kCount}, type), other = at::zeros({kCount}, type);
    const auto width = static_cast<std::int64_t>(one.element_size());
    one.view(at::kByte).slice(0, 0, 4 * width).fill_(0x7b);
    other.view(at::kByte).slice(0, 2 * width, 7 * width).fill_(0xff);
    EXPECT_EQ(count_filled(one, 0x7b, other, 0xff), 2) << at::toString(type);
    EXPECT_EQ(count_filled(one, 0, other, 0xff), 3) << at::toString(type);
    EXPECT_EQ(count_filled(one, 0xff, other, 0xff), 0) << at::toString(type);
  }
}

}  // namespace
}  // namespace kbench::worker
