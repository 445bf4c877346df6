// SPDX-License-Identifier: MIT
#pragma once

#include "base/json/view.hpp"
#include "kbench/profile.hpp"

/// The public `*_from_json()` functions for JsonViews of a run file's lines. They throw the same
/// errors.
namespace kbench {

KernelProfile kernel_profile_from(JsonView object);
LeastWork least_work_from(JsonView object);
SpeedOfLight speed_of_light_from(JsonView object);

}  // namespace kbench
