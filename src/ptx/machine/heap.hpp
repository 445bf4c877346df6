// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "ptx/machine/machine.hpp"

namespace kbench::ptx {

/// Memory for malloc and free in kernels. It belongs to the module, so it persists across launches.
class DeviceHeap {
 public:
  /// The default size of CUDA's device heap.
  static constexpr std::uint64_t kBytes = std::uint64_t{8} << 20;

  DeviceHeap() : storage_(Bytes::zeros(kBytes, 4096)), free_{{0, kBytes}} {}
  std::byte* data() const { return storage_.data(); }
  /// Address of `bytes` bytes, aligned to 16; 0 if no free range is large enough.
  std::uint64_t allocate(std::uint64_t bytes);
  /// False if allocate() did not return the address, or if it is already free.
  bool release(std::uint64_t address);

 private:
  std::uint64_t base() const { return reinterpret_cast<std::uint64_t>(storage_.data()); }

  Bytes storage_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> free_, used_;  ///< bytes by offset
};

}  // namespace kbench::ptx
