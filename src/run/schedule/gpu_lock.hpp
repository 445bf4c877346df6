// SPDX-License-Identifier: MIT
#pragma once

#include "os/device_probe.hpp"
#include "os/subprocess.hpp"

namespace kbench::run {

/// Holds a GPU for this run as long as the descriptor is open; two runs never time on one GPU at
/// once. Throws UsageError where another run holds it.
Fd lock_gpu(const GpuInfo& gpu);

}  // namespace kbench::run
