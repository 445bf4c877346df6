// SPDX-License-Identifier: MIT
#pragma once

#include "base/json/view.hpp"
#include "kbench/profile.hpp"

/// What a run file's lines hold, read from any JsonView: the functions of the public headers whose
/// names end in _from_json(), with the same errors.
namespace kbench {

KernelProfile kernel_profile_from(JsonView object);
LeastWork least_work_from(JsonView object);
SpeedOfLight speed_of_light_from(JsonView object);

}  // namespace kbench
