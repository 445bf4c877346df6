// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench {

/// Gives a source its own name in the .file directives of PTX, by which lines are told: there it
/// stands for `known` and the folder that the compiler puts before it.
void name_in_ptx(std::string& ptx, std::string_view known, std::string name);

}  // namespace kbench
