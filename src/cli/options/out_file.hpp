// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace kbench::cli {

/// Returns `out` if it is given. Else the first of STEM.jsonl, STEM-2.jsonl, … that does not exist;
/// with `resume`, STEM.jsonl.
std::filesystem::path choose_out(const std::string& out, const std::string& stem, bool resume);

/// Tells how to go on with an interrupted run, whose finished `what` are in `out`. Returns the exit
/// code.
int interrupted(const char* what, const std::filesystem::path& out);

}  // namespace kbench::cli
