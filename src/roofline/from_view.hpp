// SPDX-License-Identifier: MIT
#pragma once

#include "base/json/view.hpp"
#include "kbench/profile.hpp"

/// Counterparts of the public `*_from_json()` functions for any JsonView of a run file's line. They
/// throw the same errors.
namespace kbench {

KernelProfile kernel_profile_from(JsonView object);
LeastWork least_work_from(JsonView object);
SpeedOfLight speed_of_light_from(JsonView object);

}  // namespace kbench
