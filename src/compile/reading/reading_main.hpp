// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench {

/// Confines and limits this process permanently, does one job of a Reader and returns the answer.
/// Throws nothing; a failure is returned as an answer, too.
std::string answer_reading(std::string_view job);

}  // namespace kbench
