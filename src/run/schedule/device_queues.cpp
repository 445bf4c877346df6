// SPDX-License-Identifier: MIT
#include "run/schedule/device_queues.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "run/devices.hpp"
#include "run/eval_options.hpp"
#include "run/process/device_turns.hpp"
#include "run/process/warm_pool.hpp"
#include "run/process/worker_host.hpp"

namespace kbench::run {

DeviceQueues::DeviceQueues(QueueSetup common, std::span<const QueueDevice> devices)
    : common_(std::move(common)), devices_(devices) {
  // KernelBench judges one candidate at a time; only then are times comparable with its own.
  const bool one_by_one = by_kernelbench(*common_.options);
  for (const auto& device : devices_)
    counts_.push_back(device.gpu && !one_by_one ? std::max(common_.options->device_queues, 1U) : 1);
}

bool DeviceQueues::run(const std::vector<std::size_t>& counts,
                       const std::function<void(DeviceQueue&)>& work) {
  std::mutex fault_mutex;
  std::exception_ptr fault;
  std::atomic<bool> stopped = false;
  std::vector<std::thread> threads;
  std::deque<DeviceTurns> turns(devices_.size());
  std::vector<std::unique_ptr<WarmPool>> warm_processes(devices_.size());
  const auto start = [&](QueueSetup setup) {
    threads.emplace_back([&, setup = std::move(setup)] {
      try {
        // kbench's own kernels may fail to compile. The run then fails here, before any candidate.
        for (const auto* kernels : {&setup.own_kernels.judge, &setup.own_kernels.timing})
          if (kernels->valid()) own_image(*kernels, setup.cancel_fd);
        DeviceQueue device_queue(setup);
        work(device_queue);
      } catch (const Cancelled&) {
        stopped = true;
      } catch (...) {
        const std::lock_guard lock(fault_mutex);
        if (!fault) fault = std::current_exception();
      }
    });
  };
  // Everything that may throw comes before the first thread.
  std::vector<QueueSetup> setups;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    QueueSetup& setup = setups.emplace_back(common_);
    setup.device = devices_[i];
    setup.turns = &turns[i];
    setup.device_queues = counts[i];
    // By KernelBench's rules there are no warm processes. A candidate's process opens the device
    // only once it has device access, as in KernelBench.
    if (setup.device.gpu && !by_kernelbench(*common_.options))
      warm_processes[i] =
          std::make_unique<WarmPool>(*common_.host, *setup.device.gpu, setup.device.name_inside(),
                                     turns[i], counts[i], common_.cancel_fd);
    setup.warm_processes = warm_processes[i].get();
  }
  for (const QueueSetup& setup : setups)
    for (std::size_t device_queue = 0; device_queue < setup.device_queues; ++device_queue)
      start(setup);
  for (auto& thread : threads) thread.join();
  if (fault) std::rethrow_exception(fault);
  return !stopped;
}

}  // namespace kbench::run
