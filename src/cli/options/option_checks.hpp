// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kbench::cli {

/// A number above zero; CLI11's own check tells the largest double instead of what is wrong.
CLI::Validator above_zero();

/// One of these names; a misspelt one is told the nearest.
CLI::Validator one_of(std::vector<std::string> names);

/// The name of a C++ function: it becomes a part of code.
CLI::Validator function_name();

/// Adds `--compile-timeout`; `seconds` is 0 where it is not given.
void add_compile_timeout(CLI::App& app, double& seconds);

}  // namespace kbench::cli
