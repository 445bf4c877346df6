// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "kbench/plan.hpp"
#include "kbench/run.hpp"
#include "run/devices.hpp"

namespace kbench::run {

/// What the device grants a launch; the CPU's are those of the device that the executor stands for.
DeviceLimits limits_of(const LaneDevice& device);

/// What code for the device is compiled for, as in CompileRequest.
std::string arch_of(const LaneDevice& device);

}  // namespace kbench::run
