// SPDX-License-Identifier: MIT
// Memory in which kbench notices accesses by host code, but not by kernels and torch's copies.
#include "worker/device/hidden_memory.hpp"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <thread>

#include "worker/candidate/operator_watch.hpp"
#include "worker/reference/torch_memory.hpp"

namespace kbench::worker {
namespace {

constexpr std::int64_t kElements = 3000;
constexpr std::size_t kBytes = kElements * sizeof(float);

class Hidden : public testing::Test {
 protected:
  static void SetUpTestSuite() { watch_torch_memory(); }

  Hidden() {
    input_.fill_(2);
    const HiddenMemory::Input hidden{{static_cast<std::byte*>(memory_), kBytes}, false};
    mprotect(memory_, whole_pages(kBytes), PROT_READ);
    memory().begin({&hidden, 1});
  }
  ~Hidden() override {
    memory().end();
    munmap(memory_, whole_pages(kBytes));
  }

  static HiddenMemory& memory() { return HiddenMemory::instance(); }

  /// Accesses the memory as a kernel does.
  static void run_kernel(const at::Tensor& from, const at::Tensor& to) {
    const HiddenMemory::Opening open(HiddenMemory::Reader::kKernel);
    const auto* x = static_cast<const float*>(from.const_data_ptr());
    auto* y = static_cast<float*>(const_cast<void*>(to.const_data_ptr()));
    for (std::int64_t i = 0; i < kElements; ++i) y[i] = x[i] + 1;
  }

  static float first_of(const at::Tensor& tensor) {
    return *static_cast<const volatile float*>(tensor.const_data_ptr());
  }

  void* memory_ = mmap(nullptr, whole_pages(kBytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  at::Tensor input_ = at::from_blob(memory_, {kElements});
};

TEST_F(Hidden, HostCodeThatTouchesAnInputGoesOnAndIsCounted) {
  EXPECT_EQ(first_of(input_), 2);
  EXPECT_EQ(first_of(input_), 2);
  EXPECT_EQ(memory().end(), kBytes);
}

TEST_F(Hidden, KernelsReadInputsAndWhatTheyWriteIsHidden) {
  const auto y = at::empty({kElements}), other = at::zeros({kElements});
  EXPECT_FALSE(memory().content(y.const_data_ptr()).is_written);
  run_kernel(input_, y);
  EXPECT_TRUE(memory().content(y.const_data_ptr()).is_written);
  EXPECT_EQ(first_of(other), 0);
  EXPECT_FALSE(memory().content(other.const_data_ptr()).is_derived);
  EXPECT_EQ(first_of(y), 3);
  EXPECT_EQ(memory().end(), kBytes) << "of y alone";
}

TEST_F(Hidden, WhatAKernelWritesAgainIsHiddenAgain) {
  const auto y = at::empty({kElements});
  run_kernel(input_, y);
  EXPECT_EQ(first_of(y), 3);
  run_kernel(y, y);
  EXPECT_EQ(first_of(y), 4);
  EXPECT_EQ(memory().end(), 2 * kBytes);
}

TEST_F(Hidden, TorchCopiesCastsAndJoinsWithoutShowing) {
  const OperatorWatch watch;
  const auto y = at::empty({kElements});
  run_kernel(input_, y);
  const auto both = at::cat({input_, y}).to(at::kDouble).clone().view({2, kElements});
  EXPECT_TRUE(memory().content(both.const_data_ptr()).is_written);
  EXPECT_FALSE(memory().content(input_.clone().const_data_ptr()).is_written);
  EXPECT_FALSE(watch.computed());
  EXPECT_EQ(*static_cast<const volatile double*>(both.const_data_ptr()), 2);
  EXPECT_EQ(memory().end(), 2 * kElements * sizeof(double)) << "of the copy alone";
}

TEST_F(Hidden, ASingleNumberCountsAsSuch) {
  const OperatorWatch watch;
  EXPECT_EQ(input_[5].item<float>(), 2);
  EXPECT_EQ(memory().end(), sizeof(float));
}

TEST_F(Hidden, OperatorsThatNobodyRecordsAreHostCode) {
  const OperatorWatch watch;
  {
    const at::RecordFunctionGuard unseen(false);
    EXPECT_EQ(at::add(input_, 1)[0].item<float>(), 3);
  }
  EXPECT_FALSE(watch.computed());
  EXPECT_GE(memory().end(), kBytes);
}

TEST_F(Hidden, WhereALibraryComputesNothingStaysHidden) {
  const OperatorWatch watch;
  const auto y = at::add(input_, 1);
  EXPECT_TRUE(watch.computed());
  EXPECT_EQ(first_of(y) + first_of(input_), 5);
  EXPECT_EQ(memory().end(), 0U);
}

TEST_F(Hidden, CopiesToMemoryThatNobodyKnowsCount) {
  std::vector<float> host(kElements);
  memory().copy(host.data(), memory_, kBytes);
  EXPECT_EQ(host.back(), 2);
  const auto y = at::empty({kElements});
  memory().copy(y.data_ptr(), memory_, kBytes);
  EXPECT_TRUE(memory().content(y.const_data_ptr()).is_derived);
  EXPECT_EQ(memory().end(), kBytes) << "of the first copy alone";
  EXPECT_EQ(first_of(y), 2);
}

TEST_F(Hidden, FreedMemoryIsOpen) {
  for (int i = 0; i < 3; ++i) {
    auto y = at::empty({kElements});
    run_kernel(input_, y);
    y.reset();
  }
  EXPECT_EQ(memory().end(), 0U);
}

TEST_F(Hidden, OfManyAllocationsThoseThatHostCodeWritesStayItsOwn) {
  std::vector<at::Tensor> many;
  for (int i = 0; i < 100; ++i) many.push_back(at::empty({kElements}));
  run_kernel(input_, many[0]);
  for (const at::Tensor& tensor : many)
    if (!tensor.is_same(many[0])) *static_cast<volatile float*>(tensor.data_ptr()) = 7;
  EXPECT_FALSE(memory().content(many[1].const_data_ptr()).is_derived);
  run_kernel(input_, many[1]);
  EXPECT_TRUE(memory().content(many[1].const_data_ptr()).is_written);
  EXPECT_EQ(first_of(many[2]), 7);
  EXPECT_EQ(memory().end(), 0U);
}

TEST_F(Hidden, AWriteToWhatMayOnlyBeReadIsNoneOfItsFaults) {
  EXPECT_DEATH(*static_cast<volatile float*>(memory_) = 1, "");
}

TEST_F(Hidden, AThreadMayComeLateToTheSameAddressAgainAndAgain) {
  for (int call = 0; call < 3; ++call) {
    memory().derive(memory_, false);
    std::thread([&] { EXPECT_TRUE(memory().take_fault(memory_)); }).join();
    EXPECT_TRUE(memory().take_fault(memory_)) << call;
  }
  EXPECT_FALSE(memory().take_fault(memory_)) << "nothing has changed, so it may not be touched so";
}

TEST(HiddenMemory, SizesAndSingleResultsAreNoReadingBack) {
  EXPECT_FALSE(is_read_back(255, 1000));
  EXPECT_TRUE(is_read_back(256, 1000));
  EXPECT_FALSE(is_read_back(1000, 80000));
  EXPECT_TRUE(is_read_back(10000, 80000));
}

}  // namespace
}  // namespace kbench::worker
