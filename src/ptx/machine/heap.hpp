// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "ptx/machine/machine.hpp"

namespace kbench::ptx {

/// What malloc and free in kernels take memory from: of a module, so that it lasts over launches.
class DeviceHeap {
 public:
  /// As large as a device's when nobody asks for more.
  static constexpr std::uint64_t kBytes = std::uint64_t{8} << 20;

  DeviceHeap() : storage_(Bytes::zeros(kBytes, 4096)), free_{{0, kBytes}} {}
  std::byte* data() const { return storage_.data(); }
  /// Address of so many bytes, aligned to 16; 0 where there are not as many in a row.
  std::uint64_t allocate(std::uint64_t bytes);
  /// False where allocate() did not give the address, or it is free already.
  bool release(std::uint64_t address);

 private:
  std::uint64_t base() const { return reinterpret_cast<std::uint64_t>(storage_.data()); }

  Bytes storage_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> free_, used_;  ///< bytes by offset
};

}  // namespace kbench::ptx
