// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kbench {

/// The encoding that a Python source declares (PEP 263, "# coding: NAME" in one of its first two
/// lines), if it is one in which Python would read another text than UTF-8 gives. "latin-1" over
/// ASCII alone is none.
std::optional<std::string> other_encoding(std::string_view source);

}  // namespace kbench
