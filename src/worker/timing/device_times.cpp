// SPDX-License-Identifier: MIT
#include <algorithm>

#include "worker/device/device_activity.hpp"

namespace kbench::worker {

std::optional<DeviceTimes> times_of(std::span<const DeviceActivity> activity) {
  constexpr double kMilliseconds = 1e-6;  // in a nanosecond
  if (activity.empty()) return std::nullopt;
  const std::uint64_t start = activity.front().start_ns;
  std::uint64_t end = start, busy = 0;
  for (const DeviceActivity& piece : activity) {
    const std::uint64_t from = std::max(piece.start_ns, end);
    if (piece.end_ns <= from) continue;  // earlier work covers it
    busy += piece.end_ns - from;
    end = piece.end_ns;
  }
  return DeviceTimes{static_cast<double>(end - start) * kMilliseconds,
                     static_cast<double>(busy) * kMilliseconds};
}

}  // namespace kbench::worker
