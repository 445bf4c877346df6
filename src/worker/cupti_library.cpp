// SPDX-License-Identifier: MIT
#include "worker/cupti_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace kbench::worker {
namespace {

constexpr std::size_t kBufferBytes = 1u << 20;
constexpr std::size_t kBufferAlignment = 8;

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

void CUPTIAPI give_activity_buffer(std::uint8_t** buffer, std::size_t* size,
                                   std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;
}

void for_kernels(std::uint8_t* buffer, std::size_t valid_bytes,
                 const std::function<void(const KernelRecord&)>& take) {
  CUpti_Activity* record = nullptr;
  while (valid_bytes > 0 &&
         cupti()->cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      take(*reinterpret_cast<const KernelRecord*>(record));
}

std::string name_of(const KernelRecord& kernel) {
  return kernel.name != nullptr ? kernel.name : "";
}

}  // namespace kbench::worker
