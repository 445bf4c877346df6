// SPDX-License-Identifier: MIT
#pragma once

#include "base/json/view.hpp"
#include "kbench/problem.hpp"

/// kbench::reduced_sizes_from_json() for any JsonView.
namespace kbench {

ReducedSizes reduced_sizes_from(JsonView object);

}  // namespace kbench
