// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kbench::cli {

/// An example command line, and what it does.
struct Example {
  std::string_view command;  ///< the subcommand that it is an example of
  std::string_view line;
  std::string_view what;
};
std::span<const Example> examples();

/// The examples of a subcommand, for the end of its help.
std::string examples_text(std::string_view command);

}  // namespace kbench::cli
