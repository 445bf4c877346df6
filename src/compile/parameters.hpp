// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kbench/plan.hpp"

namespace kbench {

/// The parameters of a kernel, from the mangled name of the probe's instance for it (kProbe of
/// compile/shims.hpp), whose argument is the kernel's type or a reference to that: "…IFvPKfiEE" is
/// (const float*, int). Nothing where it is no such name, or too long to be read: the names of
/// types are the candidate's.
std::optional<std::vector<KernelParameter>> parameters_of(const std::string& probe_symbol);

}  // namespace kbench
