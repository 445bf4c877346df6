// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kbench/plan.hpp"

namespace kbench {

/// A kernel's parameters, from the mangled name of its probe instance (kProbe of
/// compile/headers/compatibility_headers.hpp): "…IFvPKfiEE" is (const float*, int). The probe's
/// template argument is the kernel's type or a reference to it. Nullopt for other names, and for
/// names that cannot be demangled: a candidate chooses the names of its types.
std::optional<std::vector<KernelParameter>> parameters_of(const std::string& probe_symbol);

}  // namespace kbench
