// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kbench {

/// The encoding that a Python source declares (PEP 263, "# coding: NAME" in one of its first two
/// lines). Nothing if decoding it as UTF-8 gives the same text, as for "latin-1" with only ASCII
/// bytes.
std::optional<std::string> other_encoding(std::string_view source);

}  // namespace kbench
