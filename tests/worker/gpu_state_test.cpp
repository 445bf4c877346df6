// SPDX-License-Identifier: MIT
#include "worker/device/gpu_state.hpp"

#include <gtest/gtest.h>

namespace kbench::worker {
namespace {

TEST(GpuState, IsWhatNvmlTells) {
  const DeviceState state = GpuStateReader("0000:18:00.0").read();
  EXPECT_EQ(state.clock_mhz, 1755);
  EXPECT_EQ(state.temperature_c, 61);
  EXPECT_DOUBLE_EQ(state.power_w, 698.5);
  EXPECT_EQ(state.throttle_reasons, 4u);
  EXPECT_TRUE(state.throttled());
}

TEST(GpuState, OfAGpuThatNvmlDoesNotKnowIsNothing) {
  const DeviceState state = GpuStateReader("0000:99:00.0").read();
  EXPECT_EQ(state.clock_mhz, 0);
  EXPECT_EQ(state.power_w, 0);
  EXPECT_FALSE(state.throttled());
}

}  // namespace
}  // namespace kbench::worker
