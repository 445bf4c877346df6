// SPDX-License-Identifier: MIT
#include "worker/kernel_durations.hpp"

#include <cstdlib>
#include <mutex>
#include <string>

#include "worker/cupti_library.hpp"

namespace kbench::worker {
namespace {

constexpr double kNanoseconds = 1e-6;  // in milliseconds

struct Taken {
  std::mutex mutex;
  std::string name;
  std::vector<double> durations_ms;
};

/// CUPTI's threads may come until the process ends.
Taken& taken() {
  static auto* const kTaken = new Taken;
  return *kTaken;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  Taken& all = taken();
  const std::lock_guard lock(all.mutex);
  for_kernels(buffer, valid_bytes, [&](const KernelRecord& kernel) {
    if (name_of(kernel) == all.name && kernel.end > kernel.start)
      all.durations_ms.push_back(static_cast<double>(kernel.end - kernel.start) * kNanoseconds);
  });
  std::free(buffer);
}

}  // namespace

std::vector<double> kernel_durations_ms(std::string_view name, const std::function<void()>& work) {
  const Cupti* functions = cupti();
  const auto kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  if (functions == nullptr ||
      functions->cuptiActivityRegisterCallbacks(give_activity_buffer, take_buffer) !=
          CUPTI_SUCCESS ||
      functions->cuptiActivityEnable(kind) != CUPTI_SUCCESS)
    return {};
  {
    const std::lock_guard lock(taken().mutex);
    taken().name = name;
    taken().durations_ms.clear();
  }
  work();
  functions->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  functions->cuptiActivityDisable(kind);
  const std::lock_guard lock(taken().mutex);
  return std::move(taken().durations_ms);
}

}  // namespace kbench::worker
