// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace kbench::worker {

/// NVML's state of a GPU while a block of calls was measured; 0 if unknown.
struct DeviceState {
  double clock_mhz = 0;  ///< clock of the multiprocessors
  double temperature_c = 0;
  double power_w = 0;
  std::uint64_t throttle_reasons = 0;  ///< bits of nvmlClocksEventReasons

  /// True if power, heat or the board keeps the clocks below the requested ones.
  bool throttled() const {
    constexpr std::uint64_t kPowerCap = 0x4, kSlowdown = 0x8, kThermal = 0x20, kHardThermal = 0x40,
                            kPowerBrake = 0x80;
    return (throttle_reasons & (kPowerCap | kSlowdown | kThermal | kHardThermal | kPowerBrake)) !=
           0;
  }
};

/// A probe of a GPU: its duration, and the part of it in which the GPU ran another process or
/// context although this one had work.
struct DeviceLook {
  double seen_ms = 0, taken_ms = 0;
};

}  // namespace kbench::worker
