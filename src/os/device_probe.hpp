// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kbench {

/// A GPU as the CUDA driver describes it.
struct GpuInfo {
  int index = 0;     ///< among those that this process may use (CUDA_VISIBLE_DEVICES)
  std::string name;  ///< "NVIDIA H200"
  std::string uuid;  ///< as CUDA_VISIBLE_DEVICES names it: "GPU-…", of a part of a GPU "MIG-…"
  int compute_major = 0, compute_minor = 0;
  int driver_version = 0;  ///< 13000 for CUDA 13.0, as cuDriverGetVersion says
  std::int64_t sms = 0;
  std::int64_t shared_bytes_per_block = 0;  ///< dynamic shared memory a block may ask for
  std::uint64_t memory_bytes = 0;
  // Of what they are, the largest; 0 where the driver does not tell.
  int clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
  std::uint64_t l2_bytes = 0;
};

/// The GPUs of this machine; none where there is no driver. The driver is asked in a child process
/// with a limit, because a broken one hangs, and because this process has to stay free of CUDA.
std::vector<GpuInfo> probe_gpus();

}  // namespace kbench
