// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

#include "kbench/run.hpp"
#include "run/devices.hpp"
#include "run/process/worker_host.hpp"

namespace kbench::run {

/// Measures the throughput of copies and matrix products on a GPU, once for each GPU, driver and
/// torch, and caches it in `folder`. Returns nothing if that fails; records then lack one fraction.
/// Throws Cancelled.
std::optional<Peaks> measured_peaks(WorkerHost& host, const QueueDevice& device,
                                    const std::filesystem::path& folder, int cancel_fd);

}  // namespace kbench::run
