// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kbench::worker {

/// One kernel, copy or fill that a GPU ran.
struct DeviceActivity {
  std::string kernel;                      ///< mangled name; empty: a copy or a fill
  std::uint64_t start_ns = 0, end_ns = 0;  ///< by one clock with an unspecified origin
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t registers = 0;                                      ///< per thread
  std::uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;  ///< per block
};

/// A GPU's working time for one call.
struct DeviceTimes {
  double span_ms = 0;  ///< from the first start to the last end
  double busy_ms = 0;  ///< part of span_ms in which any work ran
};

/// CUPTI's records of the GPU's activity for this process in `work`, by start time. `work` leaves
/// the GPU idle. Nothing if CUPTI is not available or has lost a record.
std::optional<std::vector<DeviceActivity>> device_activity(const std::function<void()>& work);

/// The times of activity that is sorted by start; nothing if there is none.
std::optional<DeviceTimes> times_of(std::span<const DeviceActivity> activity);

}  // namespace kbench::worker
