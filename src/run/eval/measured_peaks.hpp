// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

#include "kbench/run.hpp"
#include "run/devices.hpp"
#include "run/process/worker_host.hpp"

namespace kbench::run {

/// What a copy and products reach on a GPU: measured once for each GPU, driver and torch, and kept
/// in that folder. None where that fails: then records lack a share, and nothing else. Throws
/// Cancelled.
std::optional<Peaks> measured_peaks(WorkerHost& host, const LaneDevice& device,
                                    const std::filesystem::path& folder, int cancel_fd);

}  // namespace kbench::run
