// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench {

/// Does one job of a Reader in this process, which is confined and bounded for the rest of its
/// life, and returns the answer. Throws nothing: what goes wrong is an answer too.
std::string answer_reading(std::string_view job);

}  // namespace kbench
