// SPDX-License-Identifier: MIT
#include "worker/candidate/exported_memory.hpp"

#include <gtest/gtest.h>

namespace kbench::worker {
namespace {

constexpr std::size_t kUnit = std::size_t{2} << 20;

std::byte* allocate(std::size_t bytes) {
  return static_cast<std::byte*>(exported_allocate(bytes, 0, nullptr));
}

TEST(ExportedMemory, ServesAllocationsAndKnowsWhereTheyLie) {
  const auto device = open_cpu_device();
  BufferLayout layout;
  layout.mapped_bytes = layout.data_bytes = 4 * kUnit;
  use_exported_memory(device->create(layout, true));
  std::byte* first = allocate(10'000);
  std::byte* second = allocate(kUnit + 1);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(exported_offset(first + 4000, 6000), 4000u);
  EXPECT_EQ(exported_offset(second, 1), kUnit);
  EXPECT_FALSE(exported_offset(second, 4 * kUnit)) << "beyond the end";
  const int own = 0;
  EXPECT_FALSE(exported_offset(&own, sizeof own));

  EXPECT_EQ(allocate(2 * kUnit), nullptr) << "one unit is left";
  exported_release(second, kUnit + 1, 0, nullptr);
  EXPECT_EQ(allocate(3 * kUnit), second) << "with the unit after it";
  exported_release(second, 3 * kUnit, 0, nullptr);
  exported_release(first, 10'000, 0, nullptr);
  EXPECT_EQ(allocate(4 * kUnit), first) << "the whole memory again";
}

}  // namespace
}  // namespace kbench::worker
