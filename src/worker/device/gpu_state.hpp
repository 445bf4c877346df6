// SPDX-License-Identifier: MIT
#pragma once

#include "worker/device/device_state.hpp"

namespace kbench::worker {

/// Reads a GPU's state through NVML. Values that cannot be read are 0, because they are only
/// annotations.
class GpuStateReader {
 public:
  /// `pci_bus_id`: in the CUDA driver's format ("0000:18:00.0").
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
