// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>
#include <new>

#include "ptx/memory/module_memory.hpp"
#include "worker/candidate/extension_runtime.hpp"
#include "worker/device/cpu_executor.hpp"
#include "worker/device/hidden_memory.hpp"

namespace kbench::worker {
namespace {

/// The executor counts no registers. With this number, every allowed block can run.
constexpr int kRegisters = 32;

/// Memory from cudaMalloc and similar functions, with red zones for the executor's checks.
class HostMemory {
 public:
  void* allocate(std::size_t bytes) {
    // Whole pages, because HiddenMemory hides pages. A red zone is as long as a page.
    const std::size_t whole = whole_pages(bytes + 2 * kRedZoneBytes);
    auto* begin = static_cast<std::byte*>(std::aligned_alloc(kRedZoneBytes, whole));
    if (begin == nullptr) return nullptr;
    std::memset(begin, kCanary, whole);
    std::byte* data = begin + kRedZoneBytes;
    fill_new_memory(data, bytes);
    blocks_[data] = bytes;
    HiddenMemory::instance().add({begin, whole}, bytes);
    return data;
  }
  bool release(void* pointer) {
    const auto found = blocks_.find(static_cast<std::byte*>(pointer));
    if (found == blocks_.end()) return false;
    HiddenMemory::instance().remove(found->first - kRedZoneBytes);
    std::free(found->first - kRedZoneBytes);
    blocks_.erase(found);
    return true;
  }
  void add_to(std::vector<ptx::Region>& regions) const {
    for (const auto& [data, bytes] : blocks_)
      regions.push_back({fmt::format("cudaMalloc of {} bytes", bytes), data, bytes, kRedZoneBytes,
                         kRedZoneBytes, true, nullptr});
  }

 private:
  std::map<std::byte*, std::size_t> blocks_;
};

class CpuRuntime final : public ExtensionRuntime {
 public:
  explicit CpuRuntime(std::function<std::vector<ptx::Region>()> regions)
      : regions_(std::move(regions)) {
    table_.allocate = [](void* context, void** pointer, std::size_t bytes) -> int {
      *pointer = static_cast<CpuRuntime*>(context)->memory_.allocate(bytes);
      return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
    };
    table_.release = [](void* context, void* pointer) -> int {
      if (pointer == nullptr) return cudaSuccess;
      return static_cast<CpuRuntime*>(context)->memory_.release(pointer) ? cudaSuccess
                                                                         : cudaErrorInvalidValue;
    };
    table_.copy = [](void*, void* target, const void* source, std::size_t bytes) {
      HiddenMemory::instance().copy(target, source, bytes);
    };
    table_.fill = [](void*, void* target, int value, std::size_t bytes) {
      HiddenMemory::instance().fill(target, value, bytes);
    };
    table_.synchronize = [](void* context) -> int {
      return static_cast<CpuRuntime*>(context)->failed() ? cudaErrorLaunchFailure : cudaSuccess;
    };
  }

 protected:
  struct CpuKernel final : Kernel {
    std::shared_ptr<ptx::Module> module;
    std::string symbol;
    std::vector<std::size_t> parameter_bytes;
  };

  Loaded load(const DeviceCode& half) override {
    const auto module = std::make_shared<ptx::Module>(load_ptx(half.image));
    Loaded loaded;
    for (const auto& kernel : half.kernels) {
      auto made = std::make_unique<CpuKernel>();
      made->module = module;
      made->symbol = kernel.symbol;
      const auto bytes = module->parameter_bytes(kernel.symbol);
      if (!bytes)
        throw CandidateFailure{Outcome::kLoadFailure, "module_load",
                               fmt::format("the code has no kernel {}", kernel.name)};
      made->parameter_bytes = *bytes;
      loaded.kernels.push_back(std::move(made));
    }
    for (const auto& variable : half.variables) {
      const auto storage = module->variable(variable.symbol);
      if (storage.empty() && variable.bytes > 0)
        throw CandidateFailure{Outcome::kLoadFailure, "module_load",
                               fmt::format("the code has no variable {}", variable.symbol)};
      loaded.variables.push_back({storage.data(), storage.size()});
    }
    modules_.push_back(module);
    for (const std::span<std::byte> memory : ptx::own_memory(*module))
      if (!memory.empty())
        HiddenMemory::instance().add({memory.data(), whole_pages(memory.size())}, memory.size());
    return loaded;
  }

  int launch(Kernel& base, const Launch& launch) override {
    if (failed()) return cudaErrorLaunchFailure;  // like each CUDA call after a fault
    auto& kernel = static_cast<CpuKernel&>(base);
    if (launch.shared_bytes > static_cast<std::size_t>(kernel.shared_limit_bytes)) {
      refuse({Outcome::kCrash, "invalid_launch",
              fmt::format("{}: {} bytes of dynamic shared memory exceed its limit of {}: raise it "
                          "with cudaFuncSetAttribute",
                          kernel.name, launch.shared_bytes, kernel.shared_limit_bytes)});
      return cudaErrorInvalidValue;
    }
    ptx::Launch run;
    run.kernel = kernel.symbol;
    run.grid = launch.grid;
    run.block = launch.block;
    run.cluster = launch.cluster;
    run.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.shared_bytes);
    run.cooperative = launch.cooperative;
    run.arguments = arguments_of(kernel, launch);
    auto regions = regions_();
    memory_.add_to(regions);
    auto result = [&] {
      const HiddenMemory::Opening open(HiddenMemory::Reader::kKernel);
      return ptx::launch(*kernel.module, regions, run, executor_options(watch_, ++launches_));
    }();
    if (result.fault && result.fault->kind == ptx::FaultKind::kBadLaunch) {
      refuse(failure_of(*result.fault, {}));
      return cudaErrorInvalidConfiguration;
    }
    LaunchReport seen = report_of(result);
    seen.kernel = kernel.name;
    seen.grid = launch.grid;
    seen.block = launch.block;
    report(std::move(seen));
    if (!result.fault) return cudaSuccess;
    fail(failure_of(*result.fault, {}));
    return cudaErrorIllegalAddress;
  }

  int set_attribute(Kernel& kernel, int attribute, int value) override {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || static_cast<std::uint32_t>(value) > device_.shared_bytes_per_block)
      return cudaErrorInvalidValue;
    kernel.shared_limit_bytes = value;
    return cudaSuccess;
  }

  int attributes(Kernel& kernel, void* out) override {
    cudaFuncAttributes attributes{};
    attributes.maxThreadsPerBlock = static_cast<int>(device_.max_threads_per_block);
    attributes.numRegs = kRegisters;
    attributes.maxDynamicSharedSizeBytes = kernel.shared_limit_bytes;
    attributes.ptxVersion = attributes.binaryVersion = 90;
    std::memcpy(out, &attributes, sizeof attributes);
    return cudaSuccess;
  }

  int occupancy(Kernel&, int* blocks, int block_size, std::size_t shared_bytes) override {
    std::uint64_t most = std::min<std::uint64_t>(
        device_.max_blocks_per_sm, device_.max_threads_per_sm / static_cast<unsigned>(block_size));
    if (shared_bytes > 0)
      most = std::min<std::uint64_t>(most, device_.shared_bytes_per_sm / shared_bytes);
    *blocks = static_cast<int>(most);
    return cudaSuccess;
  }

 private:
  static std::vector<std::vector<std::byte>> arguments_of(const CpuKernel& kernel,
                                                          const Launch& launch) {
    std::vector<std::vector<std::byte>> arguments;
    const std::size_t count =
        launch.arguments != nullptr ? launch.count : kernel.parameter_bytes.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto* data = static_cast<const std::byte*>(
          launch.arguments != nullptr ? launch.arguments[i].data : launch.pointers[i]);
      const std::size_t bytes =
          launch.arguments != nullptr ? launch.arguments[i].size : kernel.parameter_bytes[i];
      arguments.emplace_back(data, data + bytes);
    }
    return arguments;
  }

  std::function<std::vector<ptx::Region>()> regions_;
  HostMemory memory_;
  ptx::DeviceModel device_;
  std::vector<std::shared_ptr<ptx::Module>> modules_;
  std::uint64_t launches_ = 0;
};

}  // namespace

std::unique_ptr<ExtensionRuntime> make_cpu_runtime(
    std::function<std::vector<ptx::Region>()> regions) {
  return std::make_unique<CpuRuntime>(std::move(regions));
}

}  // namespace kbench::worker
