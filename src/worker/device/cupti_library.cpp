// SPDX-License-Identifier: MIT
#include "worker/device/cupti_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace kbench::worker {
namespace {

constexpr std::size_t kBufferBytes = 1u << 20;
constexpr std::size_t kBufferAlignment = 8;

struct Shown {
  std::mutex mutex;
  std::vector<void (*)(const ActivityRecords&)> takers;
  std::map<CUpti_ActivityKind, int> wanted;
};

/// Never destroyed, because CUPTI's threads may call until the process ends.
Shown& shown() {
  static auto* const kShown = new Shown;
  return *kShown;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t, std::size_t valid_bytes) {
  ActivityRecords records{buffer, valid_bytes};
  if (cupti()->cuptiActivityGetNumDroppedRecords(context, stream, &records.dropped) !=
      CUPTI_SUCCESS)
    records.dropped = 1;  // unknown, so at least one may be lost
  std::vector<void (*)(const ActivityRecords&)> takers;
  {
    const std::lock_guard lock(shown().mutex);
    takers = shown().takers;
  }
  for (const auto take : takers) take(records);
  std::free(buffer);
}

}  // namespace

const Cupti* cupti() {
  static const Cupti* const kLibrary = []() -> const Cupti* {
    static Cupti functions;
    const std::string file = "libcupti.so." + std::to_string(CUDA_VERSION / 1000);
    void* library = dlopen(file.c_str(), RTLD_NOW);
    if (library == nullptr) return nullptr;
#define KBENCH_LOAD(name)                                                             \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, #name)); \
  if (functions.name == nullptr) return nullptr;
    KBENCH_CUPTI_FUNCTIONS(KBENCH_LOAD)
#undef KBENCH_LOAD
    return &functions;
  }();
  return kLibrary;
}

bool show_activity_to(void (*take)(const ActivityRecords&)) {
  if (cupti() == nullptr) return false;
  static const bool kRegistered =
      cupti()->cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == CUPTI_SUCCESS;
  Shown& all = shown();
  const std::lock_guard lock(all.mutex);
  if (std::ranges::find(all.takers, take) == all.takers.end()) all.takers.push_back(take);
  return kRegistered;
}

bool enable_activity(CUpti_ActivityKind kind, bool wanted) {
  Shown& all = shown();
  const std::lock_guard lock(all.mutex);
  int& count = all.wanted[kind];
  count += wanted ? 1 : -1;
  if (wanted && count == 1) return cupti()->cuptiActivityEnable(kind) == CUPTI_SUCCESS;
  if (!wanted && count == 0) return cupti()->cuptiActivityDisable(kind) == CUPTI_SUCCESS;
  return true;
}

bool flush_activity() {
  return cupti()->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == CUPTI_SUCCESS;
}

void for_records(const ActivityRecords& records,
                 const std::function<void(const CUpti_Activity&)>& take) {
  CUpti_Activity* record = nullptr;
  while (records.valid_bytes > 0 &&
         cupti()->cuptiActivityGetNextRecord(records.buffer, records.valid_bytes, &record) ==
             CUPTI_SUCCESS)
    take(*record);
}

std::string name_of(const KernelRecord& kernel) {
  return kernel.name != nullptr ? kernel.name : "";
}

}  // namespace kbench::worker
