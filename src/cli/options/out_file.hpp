// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace kbench::cli {

/// Returns `out` if it is given. Else the first of STEM.jsonl, STEM-2.jsonl, … that does not exist;
/// with `resume`, STEM.jsonl.
std::filesystem::path choose_out(const std::string& out, const std::string& stem, bool resume);

/// Says how many things ("candidate") an interrupted run has finished, and how to go on with it.
/// `out` is empty if their results are in no file. Returns the exit code.
int interrupted(std::size_t finished, const char* thing, const std::filesystem::path& out);

}  // namespace kbench::cli
