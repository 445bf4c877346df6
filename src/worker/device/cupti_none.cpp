// SPDX-License-Identifier: MIT
#include "worker/device/device_activity.hpp"
#include "worker/device/kernel_trace.hpp"

// Replaces kernel_trace.cpp if there are no CUPTI headers, as with a torch without CUDA. kbench
// then knows neither the owner of a GPU's kernels nor their times.
namespace kbench::worker {

std::unique_ptr<KernelTrace> KernelTrace::open() { return nullptr; }
KernelTrace::~KernelTrace() = default;
void KernelTrace::start() {}
TraceEntry KernelTrace::stop() { return {}; }
void KernelTrace::pause() {}

void note_own_function(CUfunction) {}
void note_own_object(std::string_view) {}

std::optional<std::vector<DeviceActivity>> device_activity(const std::function<void()>&) {
  return std::nullopt;
}

}  // namespace kbench::worker
