// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "run/devices.hpp"
#include "run/schedule/lane.hpp"

namespace kbench::run {

/// The lanes of all devices of a run, each in a thread of its own while there is work.
class DeviceLanes {
 public:
  /// `common` is what all lanes share; device, turns, spares and lanes are filled in here.
  DeviceLanes(LaneSetup common, std::span<const LaneDevice> devices);

  /// How many lanes each device has by the options.
  const std::vector<std::size_t>& counts() const { return counts_; }
  /// Runs `work` in a thread for each lane; the first fault of any is thrown here. False where one
  /// was cancelled.
  bool run(const std::function<void(Lane&)>& work) { return run(counts_, work); }
  /// The same with one lane on each device.
  bool run_single(const std::function<void(Lane&)>& work) {
    return run(std::vector<std::size_t>(devices_.size(), 1), work);
  }

 private:
  bool run(const std::vector<std::size_t>& counts, const std::function<void(Lane&)>& work);

  LaneSetup common_;
  std::span<const LaneDevice> devices_;
  std::vector<std::size_t> counts_;
};

}  // namespace kbench::run
