// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace kbench {

/// Parses a text as Python's json module writes it. NaN and infinities become null, and lone
/// surrogates U+FFFD, because JSON lacks them. Throws kbench::Error with a clause about the text
/// ("is cut off …", "is not JSON (line 3)").
nlohmann::json parse_python_json(std::string_view text);

}  // namespace kbench
