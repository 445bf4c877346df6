// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>

#include "worker/candidate/extension_runtime.hpp"
#include "worker/device/cuda_driver.hpp"
#include "worker/device/kernel_trace.hpp"

namespace kbench::worker {
namespace {

class CudaRuntime final : public ExtensionRuntime {
 protected:
  struct CudaKernel final : Kernel {
    CUfunction function = nullptr;
  };

  Loaded load(const DeviceCode& half) override {
    CUmodule module = nullptr;
    check_load(cuda_.cuModuleLoadData(&module, half.image.data()), "loading the code");
    Loaded loaded;
    for (const auto& kernel : half.kernels) {
      auto made = std::make_unique<CudaKernel>();
      check_load(cuda_.cuModuleGetFunction(&made->function, module, kernel.symbol.c_str()),
                 fmt::format("finding kernel {}", kernel.name));
      note_own_function(made->function);
      loaded.kernels.push_back(std::move(made));
    }
    for (const auto& variable : half.variables) {
      CUdeviceptr address = 0;
      Symbol symbol;
      // The compiler may have removed a variable that no kernel uses.
      if (cuda_.cuModuleGetGlobal(&address, &symbol.bytes, module, variable.symbol.c_str()) ==
          CUDA_SUCCESS) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers
        symbol.address = reinterpret_cast<void*>(address);
      }
      loaded.variables.push_back(symbol);
    }
    return loaded;
  }

  int launch(Kernel& kernel, const Launch& launch) override {
    std::vector<void*> pointers;
    if (launch.arguments != nullptr) {
      for (std::size_t i = 0; i < launch.count; ++i)
        pointers.push_back(const_cast<void*>(launch.arguments[i].data));
    }
    const LaunchConfig config(launch, static_cast<CUstream>(launch.stream));
    report({});
    return cuda_.cuLaunchKernelEx(
        config.get(), static_cast<CudaKernel&>(kernel).function,
        launch.arguments != nullptr ? pointers.data() : const_cast<void**>(launch.pointers),
        nullptr);
  }

  // The runtime and the driver use the same numbers for attributes.
  int set_attribute(Kernel& kernel, int attribute, int value) override {
    return cuda_.cuFuncSetAttribute(static_cast<CudaKernel&>(kernel).function,
                                    static_cast<CUfunction_attribute>(attribute), value);
  }

  int attributes(Kernel& kernel, void* out) override {
    CUfunction function = static_cast<CudaKernel&>(kernel).function;
    const auto value = [&](CUfunction_attribute which) {
      int number = 0;
      cuda_.cuFuncGetAttribute(&number, which, function);
      return number;
    };
    cudaFuncAttributes found{};
    found.maxThreadsPerBlock = value(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    found.sharedSizeBytes = static_cast<std::size_t>(value(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    found.constSizeBytes = static_cast<std::size_t>(value(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
    found.localSizeBytes = static_cast<std::size_t>(value(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    found.numRegs = value(CU_FUNC_ATTRIBUTE_NUM_REGS);
    found.ptxVersion = value(CU_FUNC_ATTRIBUTE_PTX_VERSION);
    found.binaryVersion = value(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    found.maxDynamicSharedSizeBytes = value(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    std::memcpy(out, &found, sizeof found);
    return cudaSuccess;
  }

  int occupancy(Kernel& kernel, int* blocks, int block_size, std::size_t shared_bytes) override {
    return cuda_.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, static_cast<CudaKernel&>(kernel).function, block_size, shared_bytes);
  }

 private:
  static void check_load(CUresult result, const std::string& what) {
    if (result == CUDA_SUCCESS) return;
    throw CandidateFailure{Outcome::kLoadFailure, "module_load",
                           fmt::format("{}: {}", what, describe(result))};
  }

  const CudaDriver& cuda_ = cuda_driver();
};

}  // namespace

std::unique_ptr<ExtensionRuntime> make_cuda_runtime() { return std::make_unique<CudaRuntime>(); }

}  // namespace kbench::worker
