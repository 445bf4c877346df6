// SPDX-License-Identifier: MIT
#pragma once

#include "base/json/view.hpp"
#include "kbench/problem.hpp"

/// As kbench::shrunk_from_json(), from any JsonView.
namespace kbench {

Shrunk shrunk_from(JsonView object);

}  // namespace kbench
