// SPDX-License-Identifier: MIT
#pragma once

#include "base/json/view.hpp"
#include "kbench/problem.hpp"

/// As kbench::reduced_sizes_from_json(), from any JsonView.
namespace kbench {

ReducedSizes reduced_sizes_from(JsonView object);

}  // namespace kbench
