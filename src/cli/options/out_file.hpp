// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace kbench::cli {

/// `--out`, or the first of STEM.jsonl, STEM-2.jsonl, … that is free; STEM.jsonl to go on with.
std::filesystem::path choose_out(const std::string& out, const std::string& stem, bool resume);

}  // namespace kbench::cli
