// SPDX-License-Identifier: MIT
#include "worker/candidate/extension_runtime.hpp"

#include <algorithm>

namespace kbench::worker {
namespace {

// Values of cudaError_t. The worker needs nothing else of CUDA's header.
constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kInvalidDeviceFunction = 98;
constexpr int kInvalidSymbol = 13;

/// A stub is at most this long.
constexpr std::ptrdiff_t kStubBytes = 1 << 16;

}  // namespace

ExtensionRuntime::ExtensionRuntime() {
  table_.version = kbench_split::kRuntimeVersion;
  table_.context = this;
  table_.launch = [](void* context, const void* code_address, const unsigned grid[3],
                     const unsigned block[3], std::size_t shared_bytes, void* stream,
                     const kbench_split::Argument* arguments, std::size_t count, int cooperative,
                     const unsigned cluster[3]) {
    auto& self = *static_cast<ExtensionRuntime*>(context);
    Kernel* kernel = self.find(code_address);
    if (kernel == nullptr) return kInvalidDeviceFunction;
    if (self.skips_) return kSuccess;
    Launch launch{{grid[0], grid[1], grid[2]},
                  {block[0], block[1], block[2]},
                  {0, 0, 0},
                  shared_bytes,
                  stream,
                  arguments,
                  nullptr,
                  count,
                  cooperative != 0};
    if (cluster != nullptr) launch.cluster = {cluster[0], cluster[1], cluster[2]};
    if (count == kbench_split::kPointersOnly) {
      launch.pointers = reinterpret_cast<void* const*>(arguments);
      launch.arguments = nullptr;
    }
    return self.launch(*kernel, launch);
  };
  table_.set_attribute = [](void* context, const void* stub, int attribute, int value) {
    auto& self = *static_cast<ExtensionRuntime*>(context);
    Kernel* kernel = self.find(stub);
    return kernel == nullptr ? kInvalidDeviceFunction
                             : self.set_attribute(*kernel, attribute, value);
  };
  table_.attributes = [](void* context, const void* stub, void* attributes) {
    auto& self = *static_cast<ExtensionRuntime*>(context);
    Kernel* kernel = self.find(stub);
    return kernel == nullptr ? kInvalidDeviceFunction : self.attributes(*kernel, attributes);
  };
  table_.occupancy = [](void* context, const void* stub, int* blocks, int block_size,
                        std::size_t shared_bytes) {
    auto& self = *static_cast<ExtensionRuntime*>(context);
    Kernel* kernel = self.find(stub);
    if (kernel == nullptr) return kInvalidDeviceFunction;
    return block_size <= 0 ? kInvalidValue
                           : self.occupancy(*kernel, blocks, block_size, shared_bytes);
  };
  table_.error_taken = [](void* context) {
    auto& self = *static_cast<ExtensionRuntime*>(context);
    if (self.refused_) self.refused_->looked_at = true;
  };
  table_.symbol_address = [](void* context, const void* shadow, void** address, std::size_t* size) {
    auto& self = *static_cast<ExtensionRuntime*>(context);
    const auto found = self.variables_.find(static_cast<const std::byte*>(shadow));
    if (found == self.variables_.end()) return kInvalidSymbol;
    if (address != nullptr) *address = found->second.address;
    if (size != nullptr) *size = found->second.bytes;
    return kSuccess;
  };
}

void ExtensionRuntime::add(const std::byte* base, DeviceCode half) {
  if (half.kernels.empty() && half.variables.empty()) return;  // only host code
  Loaded loaded = load(half);
  for (std::size_t i = 0; i < half.kernels.size(); ++i) {
    loaded.kernels[i]->name = half.kernels[i].name;
    kernels_[base + half.kernels[i].offset] = std::move(loaded.kernels[i]);
  }
  for (std::size_t i = 0; i < half.variables.size(); ++i)
    variables_[base + half.variables[i].offset] = loaded.variables[i];
}

ExtensionRuntime::Kernel* ExtensionRuntime::find(const void* code_address) {
  const auto* address = static_cast<const std::byte*>(code_address);
  auto after = kernels_.upper_bound(address);
  if (after == kernels_.begin()) return nullptr;
  --after;
  return address - after->first < kStubBytes ? after->second.get() : nullptr;
}

void ExtensionRuntime::fail(CandidateFailure failure) {
  if (!failure_) failure_ = std::move(failure);
}

void ExtensionRuntime::check() {
  if (failure_) throw *std::exchange(failure_, std::nullopt);
  const auto refused = std::exchange(refused_, std::nullopt);
  if (refused && !refused->looked_at) throw refused->failure;
}

void ExtensionRuntime::explain() {
  if (refused_) refused_->looked_at = false;
  check();
}

}  // namespace kbench::worker
