// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace kbench {

/// Lines of a Python file that stand before a text that its code gave to a compiler; none where
/// they cannot be told. The text is found as it is, or by its lines: in a literal with escapes, in
/// an f-string, or before `.replace`, some look otherwise and all keep their places.
std::optional<std::size_t> lines_before(std::string_view file, std::string_view text);

}  // namespace kbench
