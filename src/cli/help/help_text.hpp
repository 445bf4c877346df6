// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library has that name
class App;
class Option;
}  // namespace CLI

namespace kbench::cli {

/// The name of an option's value, as in `--out FILE`; empty if the option has none. It is what
/// type_name() was given, without the checks that CLI11 adds.
std::string value_name(const CLI::Option& option);

/// The help of a command, or of kbench itself, in lines of at most `width` columns. `all`: with all
/// of its options, even if it has most used ones.
std::string help_text(const CLI::App& app, bool all, std::size_t width);

/// Makes `--help` of `app` and of commands that are added later print help_text() at the width of
/// the terminal, and adds `--help-all`.
void use_help_text(CLI::App& app);

/// Prints the help as `--help` does.
void print_help(const CLI::App& app);

}  // namespace kbench::cli
