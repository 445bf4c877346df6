// SPDX-License-Identifier: MIT
#include "run/schedule/device_lanes.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "run/devices.hpp"
#include "run/eval_options.hpp"
#include "run/process/device_turns.hpp"
#include "run/process/spare_pool.hpp"
#include "run/process/worker_host.hpp"

namespace kbench::run {

DeviceLanes::DeviceLanes(LaneSetup common, std::span<const LaneDevice> devices)
    : common_(std::move(common)), devices_(devices) {
  // KernelBench judges one candidate at a time, and its times are comparable only then.
  const bool one_by_one = by_kernelbench(*common_.options);
  for (const auto& device : devices_)
    counts_.push_back(device.gpu && !one_by_one ? std::max(common_.options->lanes, 1U) : 1);
}

bool DeviceLanes::run(const std::vector<std::size_t>& counts,
                      const std::function<void(Lane&)>& work) {
  std::mutex fault_mutex;
  std::exception_ptr fault;
  std::atomic<bool> stopped = false;
  std::vector<std::thread> threads;
  std::deque<DeviceTurns> turns(devices_.size());
  std::vector<std::unique_ptr<SparePool>> spares(devices_.size());
  const auto start = [&](LaneSetup setup) {
    threads.emplace_back([&, setup = std::move(setup)] {
      try {
        // If kbench's own kernels do not compile, the run fails here, before any candidate.
        for (const auto* kernels : {&setup.own_kernels.judge, &setup.own_kernels.timing})
          if (kernels->valid()) own_image(*kernels, setup.cancel_fd);
        Lane lane(setup);
        work(lane);
      } catch (const Cancelled&) {
        stopped = true;
      } catch (...) {
        const std::lock_guard lock(fault_mutex);
        if (!fault) fault = std::current_exception();
      }
    });
  };
  // Everything that may throw comes before the first thread.
  std::vector<LaneSetup> setups;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    LaneSetup& setup = setups.emplace_back(common_);
    setup.device = devices_[i];
    setup.turns = &turns[i];
    setup.lanes = counts[i];
    // By KernelBench's rules there are no warm processes: each opens the device when its candidate
    // has access, as KernelBench's own does.
    if (setup.device.gpu && !by_kernelbench(*common_.options))
      spares[i] =
          std::make_unique<SparePool>(*common_.host, *setup.device.gpu, setup.device.name_inside(),
                                      turns[i], counts[i], common_.cancel_fd);
    setup.spares = spares[i].get();
  }
  for (const LaneSetup& setup : setups)
    for (std::size_t lane = 0; lane < setup.lanes; ++lane) start(setup);
  for (auto& thread : threads) thread.join();
  if (fault) std::rethrow_exception(fault);
  return !stopped;
}

}  // namespace kbench::run
