// SPDX-License-Identifier: MIT
#include "worker/device/device_activity.hpp"
#include "worker/device/kernel_ledger.hpp"

// In place of kernel_ledger.cpp where there are no headers of CUPTI, as beside a torch without
// CUDA: whose kernels run on a GPU, and for how long, is not known then.
namespace kbench::worker {

std::unique_ptr<KernelLedger> KernelLedger::open() { return nullptr; }
KernelLedger::~KernelLedger() = default;
void KernelLedger::start() {}
LedgerEntry KernelLedger::stop() { return {}; }
void KernelLedger::pause() {}

void note_own_function(CUfunction) {}
void note_own_object(std::string_view) {}

std::optional<std::vector<DeviceActivity>> device_activity(const std::function<void()>&) {
  return std::nullopt;
}

}  // namespace kbench::worker
