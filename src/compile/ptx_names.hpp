// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench {

/// Puts `name` into PTX's .file directives, to which line numbers refer, in place of `known` and
/// the folder before it.
void name_in_ptx(std::string& ptx, std::string_view known, std::string name);

}  // namespace kbench
