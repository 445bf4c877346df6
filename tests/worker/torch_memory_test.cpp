// SPDX-License-Identifier: MIT
// The executor's checks of tensors that torch allocates.
#include "worker/reference/torch_memory.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "worker/device/poison.hpp"

namespace kbench::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const ptx::Region* region_of(const std::vector<ptx::Region>& regions, const at::Tensor& tensor) {
  for (const auto& region : regions)
    if (region.base == static_cast<const std::byte*>(tensor.data_ptr())) return &region;
  return nullptr;
}

class TorchMemory : public testing::Test {
 protected:
  static void SetUpTestSuite() { watch_torch_memory(); }
};

TEST_F(TorchMemory, LiveTensorsAreRegionsAndFreedOnesAreNot) {
  auto tensor = at::empty({100}, at::kFloat);
  const auto regions = torch_regions();
  const ptx::Region* region = region_of(regions, tensor);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->name, "torch tensor of 400 bytes");
  EXPECT_EQ(region->size_bytes, 400u);
  EXPECT_GE(region->red_zone_after, 256u);
  EXPECT_TRUE(region->writable);
  const auto copy = tensor;
  const std::byte* address = region->base;
  tensor.reset();
  EXPECT_NE(region_of(torch_regions(), copy), nullptr) << "the copy keeps it alive";
  const auto freed = [&] {
    const auto view = at::from_blob(const_cast<std::byte*>(address), {100}, at::kFloat);
    return region_of(torch_regions(), view);
  };
  const_cast<at::Tensor&>(copy).reset();
  EXPECT_EQ(freed(), nullptr);
}

TEST_F(TorchMemory, MemoryIsUndefinedWhenItIsMadeAndAgainWhenItIsFreed) {
  auto tensor = at::empty({1000}, at::kFloat);
  const float* values = tensor.const_data_ptr<float>();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(std::isnan(values[i])) << i;
  tensor.fill_(1);
  EXPECT_EQ(tensor.sum().item<float>(), 1000);
  tensor.reset();
  // Freed memory is not reused at once.
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(std::isnan(values[i])) << i;
}

TEST_F(TorchMemory, MemoryThatIsMadeHoldsWhatIsAskedFor) {
  set_memory_poison(kZeroPoison);
  EXPECT_TRUE(at::empty({1000}).eq(0).all().item<bool>());
  const auto input = at::randn({300});
  set_memory_poison(kDataPoison + kDataPlaces / 2,
                    {static_cast<const std::byte*>(input.data_ptr()), input.nbytes()});
  const auto made = at::empty({1000});
  set_memory_poison(kPoison);
  const auto turned = at::cat({input.slice(0, 150), input.slice(0, 0, 150)});
  EXPECT_TRUE(at::equal(made, at::cat({turned, turned, turned, turned}).slice(0, 0, 1000)));
  EXPECT_TRUE(at::empty({1000}).isnan().all().item<bool>());
}

TEST_F(TorchMemory, TorchWorksOnIt) {
  const auto a = at::randn({64, 64}), b = at::randn({64, 64});
  EXPECT_TRUE(at::allclose(at::matmul(a, b), (a.unsqueeze(2) * b).sum(1), 1e-4, 1e-4));
  auto grown = at::empty({0});
  grown.resize_({3000}).fill_(2);
  EXPECT_EQ(grown.sum().item<float>(), 6000);
  EXPECT_THAT(broken_torch_allocations(), IsEmpty());
}

TEST_F(TorchMemory, WritesOfTheHostBesideATensorAreFound) {
  auto tensor = at::zeros({10}, at::kFloat);
  static_cast<float*>(tensor.data_ptr())[10] = 3;
  EXPECT_THAT(broken_torch_allocations(), ElementsAre(40));
  tensor.reset();
  EXPECT_THAT(broken_torch_allocations(), ElementsAre(40)) << "told when it is freed, too";
  EXPECT_THAT(broken_torch_allocations(), IsEmpty());
}

/// y[i] = x[i] for each thread of the block.
constexpr const char* kCopy = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry copy(.param .u64 px, .param .u64 py) {
.reg .b64 %x, %y, %b; .reg .b32 %i; .reg .f32 %f;
ld.param.u64 %x, [px]; ld.param.u64 %y, [py]; mov.u32 %i, %tid.x;
mul.wide.u32 %b, %i, 4; add.u64 %x, %x, %b; add.u64 %y, %y, %b;
ld.global.f32 %f, [%x]; st.global.f32 [%y], %f; ret; }
)";

ptx::Result run_copy(const at::Tensor& x, const at::Tensor& y, std::uint32_t threads) {
  auto module = std::get<ptx::Module>(ptx::load(kCopy));
  ptx::Launch launch;
  launch.kernel = "copy";
  launch.block = {threads, 1, 1};
  for (const at::Tensor* tensor : {&x, &y}) {
    const void* address = tensor->data_ptr();
    std::vector<std::byte> bytes(sizeof address);
    std::memcpy(bytes.data(), &address, sizeof address);
    launch.arguments.push_back(std::move(bytes));
  }
  return ptx::launch(module, torch_regions(), launch, {});
}

TEST_F(TorchMemory, KernelsRunOnTensorsAndNotBesideThem) {
  const auto x = at::randn({32}), y = at::empty({32}), small = at::empty({30});
  ASSERT_FALSE(run_copy(x, y, 32).fault);
  EXPECT_TRUE(at::equal(x, y));
  const auto read = run_copy(small, y, 32).fault;
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, ptx::FaultKind::kIllegalRead);
  EXPECT_EQ(read->region, "torch tensor of 120 bytes");
  EXPECT_EQ(read->offset_bytes, 120);
  EXPECT_EQ(read->thread[0], 30u);
  const auto written = run_copy(x, small, 32).fault;
  ASSERT_TRUE(written);
  EXPECT_EQ(written->kind, ptx::FaultKind::kIllegalWrite);
  EXPECT_THAT(written->message, HasSubstr("torch tensor of 120 bytes"));
  EXPECT_THAT(broken_torch_allocations(), IsEmpty()) << "a refused write has not happened";
}

TEST_F(TorchMemory, AFreedTensorIsNoPlaceForAKernel) {
  const auto x = at::randn({32});
  auto gone = at::empty({32});
  const auto view = at::from_blob(gone.data_ptr(), {32}, at::kFloat);
  gone.reset();
  const auto fault = run_copy(x, view, 32).fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, ptx::FaultKind::kIllegalAddress);
}

}  // namespace
}  // namespace kbench::worker
