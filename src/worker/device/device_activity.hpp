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
  std::string kernel;                      ///< its mangled name; empty: a copy or a fill
  std::uint64_t start_ns = 0, end_ns = 0;  ///< by one clock, from no particular time
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t registers = 0;                                      ///< of a thread
  std::uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;  ///< of a block
};

/// How long a GPU was at work for one call.
struct DeviceTimes {
  double span_ms = 0;  ///< from the first start to the last end
  double busy_ms = 0;  ///< of it, while anything ran
};

/// What a GPU runs for this process in `work`, which leaves it idle, by start; from CUPTI's
/// activity records. None where CUPTI is not to be had or has lost a record.
std::optional<std::vector<DeviceActivity>> device_activity(const std::function<void()>& work);

/// Of activity by start; none where there is nothing.
std::optional<DeviceTimes> times_of(std::span<const DeviceActivity> activity);

}  // namespace kbench::worker
