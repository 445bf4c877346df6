// SPDX-License-Identifier: MIT
#pragma once

#include "os/device_probe.hpp"
#include "os/subprocess.hpp"

namespace kbench::run {

/// Locks a GPU for this run while the descriptor is open, so two runs never take times on one GPU.
/// Throws UsageError if another run holds it.
Fd lock_gpu(const GpuInfo& gpu);

}  // namespace kbench::run
