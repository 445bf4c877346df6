// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/plan.hpp"

namespace kbench {

/// The parameters of a kernel, from the mangled name of the probe's instance for it (kProbe of
/// compile/shims.hpp): "…IFvPKfiEE" is (const float*, int). Throws kbench::Error where it is no
/// such name.
std::vector<KernelParameter> parameters_of(const std::string& probe_symbol);

}  // namespace kbench
