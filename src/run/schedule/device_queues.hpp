// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "run/devices.hpp"
#include "run/schedule/device_queue.hpp"

namespace kbench::run {

/// The device queues of a run, each with a thread of its own while there is work.
class DeviceQueues {
 public:
  /// `common`: the set-up of all queues. This class fills in the device, the access to it, its warm
  /// processes and its number of queues.
  DeviceQueues(QueueSetup common, std::span<const QueueDevice> devices);

  /// The number of queues of each device, from the options.
  const std::vector<std::size_t>& counts() const { return counts_; }
  /// Runs `work` in a thread for each queue and rethrows the first fault. False if a queue was
  /// cancelled.
  bool run(const std::function<void(DeviceQueue&)>& work) { return run(counts_, work); }
  /// The same with one queue for each device.
  bool run_single(const std::function<void(DeviceQueue&)>& work) {
    return run(std::vector<std::size_t>(devices_.size(), 1), work);
  }

 private:
  bool run(const std::vector<std::size_t>& counts, const std::function<void(DeviceQueue&)>& work);

  QueueSetup common_;
  std::span<const QueueDevice> devices_;
  std::vector<std::size_t> counts_;
};

}  // namespace kbench::run
