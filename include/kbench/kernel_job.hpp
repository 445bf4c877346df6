// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "kbench/plan.hpp"
#include "kbench/subprocess.hpp"

namespace kbench {

/// What a kernel candidate's process is given: read once from a sealed descriptor, before anything
/// runs.
struct KernelJob {
  std::string device;  ///< "cpu" or "cuda:0"
  LaunchPlan plan;
  std::string image;              ///< cubin or PTX
  bool sources_writable = false;  ///< a second run that finds out which input a kernel wrote to
  std::uint64_t nonce = 0;        ///< of the channel to the judge
  std::string sanitize = "none";  ///< a row of `--sanitize`; looked at where the CPU executes
  std::uint64_t max_instructions = 0;  ///< warp instructions of a launch on the CPU; 0: no bound
};

/// The job as one descriptor (a sealed memfd), and back. Both throw kbench::Error.
Fd pack_job(const KernelJob& job);
KernelJob unpack_job(int fd);

}  // namespace kbench
