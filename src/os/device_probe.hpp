// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kbench {

/// A GPU as the CUDA driver describes it.
struct GpuInfo {
  int index = 0;     ///< among the GPUs that this process may use (CUDA_VISIBLE_DEVICES)
  std::string name;  ///< "NVIDIA H200"
  std::string uuid;  ///< as CUDA_VISIBLE_DEVICES names it: "GPU-…", or "MIG-…" for a part of a GPU
  int compute_major = 0, compute_minor = 0;
  int driver_version = 0;  ///< 13000 for CUDA 13.0, from cuDriverGetVersion
  std::int64_t sms = 0;
  std::int64_t shared_bytes_per_block = 0;  ///< most dynamic shared memory of a block
  std::uint64_t memory_bytes = 0;
  // Maxima of the device; 0 if the driver does not report them.
  int clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
  std::uint64_t l2_bytes = 0;
};

/// The GPUs of this machine; none without a driver. A child process asks the driver, because this
/// process must not load CUDA. The child has a time limit, because a broken driver hangs.
std::vector<GpuInfo> probe_gpus();

}  // namespace kbench
