// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compile/diagnostics.hpp"
#include "kbench/host_compile.hpp"

namespace kbench {

/// Fills in the stubs and variables of `module` from its object's symbols. Where the object calls
/// what neither it nor one of `libraries` defines, that is the answer; they are asked for where
/// there is a doubt.
std::optional<Diagnosis> read_symbols(const HostRequest& request,
                                      const std::function<std::vector<std::string>()>& libraries,
                                      HostModule& module);

}  // namespace kbench
