// SPDX-License-Identifier: MIT
#pragma once

#include "worker/device/device_state.hpp"

namespace kbench::worker {

/// Reads a GPU's state through NVML; what fails reads as 0, because it is only ever noted.
class GpuStateReader {
 public:
  /// `pci_bus_id` as the CUDA driver writes it ("0000:18:00.0").
  explicit GpuStateReader(const char* pci_bus_id);
  DeviceState read() const;

 private:
  using Numbered = int (*)(void*, int, unsigned*);
  double numbered(Numbered function, int which) const;

  void* device_ = nullptr;
  Numbered clock_ = nullptr, temperature_ = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
};

}  // namespace kbench::worker
