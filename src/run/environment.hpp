// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kbench/run.hpp"
#include "os/installation.hpp"
#include "run/devices.hpp"

namespace kbench::run {

/// The machine as a run file's header tells it: GPUs, driver, torch, Python, CPU, host compiler.
nlohmann::json environment_of(const Installation& installation,
                              const std::vector<LaneDevice>& devices,
                              const std::string& nvrtc_version);

/// Of NVIDIA's kernel module, as it says itself: "580.159.03"; empty: it does not.
std::string driver_version();

/// The cage of candidates as a run file's header tells it: which of its parts this machine gives,
/// or "none" where they run without.
nlohmann::json cage_json(bool caged);

/// Bytes of memory of this machine.
std::size_t total_memory_bytes();

/// UTC now, as ISO 8601 with seconds.
std::string iso_now();

}  // namespace kbench::run
