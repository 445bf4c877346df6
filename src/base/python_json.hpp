// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace kbench {

/// The value of a text as Python's json module writes it. What JSON itself does not have becomes
/// what it has: NaN and the infinities null, halves of surrogate pairs U+FFFD. Throws kbench::Error
/// with a clause about the text ("is cut off …", "is not JSON (line 3)").
nlohmann::json parse_python_json(std::string_view text);

}  // namespace kbench
