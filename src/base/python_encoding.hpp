// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kbench {

/// The encoding that a Python source declares (PEP 263, "# coding: NAME" in one of its first two
/// lines), if Python would read a different text than by UTF-8. For example, "latin-1" does not
/// count if all bytes are ASCII.
std::optional<std::string> other_encoding(std::string_view source);

}  // namespace kbench
