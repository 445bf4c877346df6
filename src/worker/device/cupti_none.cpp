// SPDX-License-Identifier: MIT
#include "worker/device/device_activity.hpp"
#include "worker/device/kernel_trace.hpp"

// In place of kernel_trace.cpp where there are no headers of CUPTI, as beside a torch without
// CUDA: whose kernels run on a GPU, and for how long, is not known then.
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
