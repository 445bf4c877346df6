// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace kbench::cli {

/// Registers `--shrink` and `--no-shrink`, alike for all subcommands that choose sizes: `text`
/// becomes what parse_shrink() takes.
void add_shrink_option(CLI::App& command, std::string& text);

}  // namespace kbench::cli
