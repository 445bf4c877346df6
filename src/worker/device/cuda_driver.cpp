// SPDX-License-Identifier: MIT
#include "worker/device/cuda_driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "kbench/error.hpp"

namespace kbench::worker {
namespace {

CudaDriver load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    throw Error(
        fmt::format("the CUDA driver cannot be opened ({}); run with --device cpu, or "
                    "install the NVIDIA driver",
                    dlerror()));
  CudaDriver driver;
  const auto symbol = [library](const char* name) {
    void* found = dlsym(library, name);
    if (found == nullptr)
      throw Error(fmt::format("the CUDA driver has no {}; it is older than CUDA 12", name));
    return found;
  };
#define KBENCH_LOAD(name, text) driver.name = reinterpret_cast<decltype(driver.name)>(symbol(text));
  KBENCH_CUDA_FUNCTIONS(KBENCH_LOAD)
#undef KBENCH_LOAD
  driver.cuCtxRecordEvent =
      reinterpret_cast<decltype(driver.cuCtxRecordEvent)>(dlsym(library, "cuCtxRecordEvent"));
  return driver;
}

}  // namespace

const CudaDriver& cuda_driver() {
  static const CudaDriver kDriver = load();
  return kDriver;
}

std::string describe(CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  cuda_driver().cuGetErrorName(result, &name);
  cuda_driver().cuGetErrorString(result, &text);
  return fmt::format("{}: {}", name != nullptr ? name : "CUDA error",
                     text != nullptr ? text : std::to_string(static_cast<int>(result)));
}

}  // namespace kbench::worker
