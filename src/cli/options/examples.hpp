// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kbench::cli {

/// A command line that somebody may want, and what it does.
struct Example {
  std::string_view command;  ///< the subcommand that it is an example of
  std::string_view line;
  std::string_view what;
};
std::span<const Example> examples();

/// The examples of a subcommand, as its help ends with them.
std::string examples_text(std::string_view command);

}  // namespace kbench::cli
