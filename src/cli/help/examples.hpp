// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace kbench::cli {

/// An example command line, and what it does.
struct Example {
  std::string_view command;  ///< the subcommand that it is an example of
  std::string_view line;
  std::string_view what;
};
/// The examples of all commands; a command's help ends with its own.
std::span<const Example> examples();

}  // namespace kbench::cli
