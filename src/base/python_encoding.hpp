// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kbench {

/// The encoding that a Python source declares (PEP 263, "# coding: NAME" in one of its first two
/// lines). Nothing if Python reads the same text with it as with UTF-8, such as by "latin-1" if all
/// bytes are ASCII.
std::optional<std::string> other_encoding(std::string_view source);

}  // namespace kbench
