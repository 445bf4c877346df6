// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench::report {

enum class Tone { kPlain, kBold, kGood, kBad, kWarning, kFaint };

/// `text` in that tone on a terminal; as it is where there is no colour.
std::string painted(bool color, Tone tone, std::string_view text);

}  // namespace kbench::report
