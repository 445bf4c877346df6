// SPDX-License-Identifier: MIT
#pragma once

#include "base/json/view.hpp"
#include "kbench/problem.hpp"

namespace kbench {

/// Throws kbench::Error naming the faulty field.
ReducedSizes reduced_sizes_from(JsonView object);

}  // namespace kbench
