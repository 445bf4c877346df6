// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// The name expressions that NVRTC's log calls ambiguous. That happens if a kernel has the name of
/// a CUDA function (norm, all, max), which nvcc accepts.
std::vector<std::string> ambiguous_names(std::string_view log,
                                         const std::vector<std::string>& name_expressions);

/// One expression per kernel called `name` in `ptx`: a cast to its parameter types, which come from
/// the symbols of the PTX entries. Leaves out templates.
std::vector<std::string> kernels_named(std::string_view ptx, std::string_view name);

}  // namespace kbench
