// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace kbench {

/// The number of lines before `text` in a Python file whose code gave `text` to a compiler. Nullopt
/// if it cannot be determined. The text is found as it is, or by its lines: escapes, f-strings and
/// `.replace` change some lines, but all keep their places.
std::optional<std::size_t> lines_before(std::string_view file, std::string_view text);

}  // namespace kbench
