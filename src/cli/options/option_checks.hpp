// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kbench::cli {

/// A number above zero. The message of CLI11's own check would only show the largest double.
CLI::Validator above_zero();

/// One of these names. The error for a misspelt name suggests the nearest one.
CLI::Validator one_of(std::vector<std::string> names);

/// The name of a C++ function; it becomes part of generated code.
CLI::Validator function_name();

/// Adds `--compile-timeout`; `seconds` is 0 if it is not given.
void add_compile_timeout(CLI::App& app, double& seconds);

}  // namespace kbench::cli
