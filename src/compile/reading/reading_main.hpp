// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench {

/// Confines and limits this process for good, does one job of a Reader and returns the answer.
/// Throws nothing: a failure is an answer, too.
std::string answer_reading(std::string_view job);

}  // namespace kbench
