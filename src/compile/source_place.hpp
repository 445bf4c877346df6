// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace kbench {

/// The number of lines before `text` in a Python file that passes `text` to a compiler. Nullopt if
/// it cannot be determined. Searches the whole text first, then its single lines: escapes,
/// f-strings and `.replace` change some lines, but not their order.
std::optional<std::size_t> lines_before(std::string_view file, std::string_view text);

}  // namespace kbench
