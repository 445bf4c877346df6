// SPDX-License-Identifier: MIT
#pragma once

#include "os/device_probe.hpp"
#include "os/subprocess.hpp"

namespace kbench::run {

/// Locks a GPU for this run until the descriptor is closed, so two runs never take times on one
/// GPU. Throws UsageError if another run holds the lock.
Fd lock_gpu(const GpuInfo& gpu);

}  // namespace kbench::run
