// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <variant>

#include "kbench/ptx.hpp"

namespace kbench::ptx {

/// As load(), but an instruction that this executor cannot run is no refusal of the module: a
/// launch that reaches it has a fault of the kind kUnsupported. So code that never runs, as that of
/// another architecture, does no harm. What is not an instruction (textures, `.extern` variables)
/// is refused as by load().
std::variant<Module, Unsupported> load_lazily(std::string_view ptx);

}  // namespace kbench::ptx
