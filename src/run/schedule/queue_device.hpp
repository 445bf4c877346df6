// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "kbench/plan.hpp"
#include "kbench/run.hpp"
#include "run/devices.hpp"

namespace kbench::run {

/// The device's limits for a launch; for the CPU, those of the GPU that the executor emulates.
DeviceLimits limits_of(const QueueDevice& device);

/// The architecture to compile for, as in CompileRequest.
std::string arch_of(const QueueDevice& device);

}  // namespace kbench::run
