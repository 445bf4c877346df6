// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/profile.hpp"
#include "os/device_probe.hpp"

namespace kbench {

/// A device that a run uses.
struct QueueDevice {
  std::string name;   ///< "cpu", "cuda:0"
  std::string model;  ///< "cpu", "NVIDIA H200"
  std::optional<GpuInfo> gpu;
  std::optional<Peaks> measured = {};  ///< throughput of copies and matrix products

  /// The value of CUDA_VISIBLE_DEVICES for processes of the device; empty for the CPU.
  std::string visible_gpu() const { return gpu ? gpu->uuid : ""; }
  /// The device's name in those processes, which see no other GPU.
  std::string name_inside() const { return gpu ? "cuda:0" : name; }
};

/// The devices that `--device` names on a machine with these GPUs. Throws UsageError.
std::vector<QueueDevice> choose_devices(std::string_view option, const std::vector<GpuInfo>& gpus);

}  // namespace kbench
