// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace kbench::cli {

/// Returns `out` if it is given. Else the first of STEM.jsonl, STEM-2.jsonl, … that does not exist;
/// with `resume`, STEM.jsonl.
std::filesystem::path choose_out(const std::string& out, const std::string& stem, bool resume);

}  // namespace kbench::cli
