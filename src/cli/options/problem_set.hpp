// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "os/installation.hpp"

namespace kbench::cli {

/// Adds `--problems`, which sets the default problem set. KBENCH_PROBLEMS and kbench.toml set the
/// option too. `--help` does not show it, because an argument PROBLEM may name a set as well.
void add_problem_set_option(CLI::App& app, std::string& set);

/// The sets in which names of problems are searched: `set`, or the shipped one if `set` is empty.
std::vector<std::filesystem::path> problem_sets(const std::string& set,
                                                const Installation& installation);

}  // namespace kbench::cli
