// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench::report {

enum class Tone { kPlain, kBold, kGood, kBad, kWarning, kFaint };

/// `text` with the terminal's sequences for `tone`; unchanged if `color` is false.
std::string painted(bool color, Tone tone, std::string_view text);

}  // namespace kbench::report
