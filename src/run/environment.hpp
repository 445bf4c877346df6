// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kbench/run.hpp"
#include "os/installation.hpp"
#include "run/devices.hpp"

namespace kbench::run {

/// Describes the machine for a run file's header: GPUs, driver, torch, Python, CPU, host compiler.
nlohmann::json environment_of(const Installation& installation,
                              const std::vector<QueueDevice>& devices,
                              const std::string& nvrtc_version);

/// The version that NVIDIA's kernel module reports, such as "580.159.03"; empty if there is none.
std::string driver_version();

/// Describes the candidates' sandbox for a run file's header: the parts that this machine supports
/// and lacks, or "none" if candidates run without it.
nlohmann::json sandbox_json(bool sandboxed);

std::size_t total_memory_bytes();

/// UTC now, as ISO 8601 with seconds.
std::string iso_now();

}  // namespace kbench::run
