// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// Those of the name expressions that, by NVRTC's log, mean several functions: a kernel may have
/// the name of a function of CUDA's (norm, all, max), which nvcc takes.
std::vector<std::string> ambiguous_names(std::string_view log,
                                         const std::vector<std::string>& name_expressions);

/// Expressions that choose the kernels of that name, one for each, by their parameters as the
/// symbols of entries in PTX tell them. Templates are none of them.
std::vector<std::string> kernels_named(std::string_view ptx, std::string_view name);

}  // namespace kbench
