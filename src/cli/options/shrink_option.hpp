// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace kbench::cli {

/// Registers `--shrink` and `--no-shrink`, for every subcommand that chooses sizes. `text` becomes
/// an argument for parse_shrink().
void add_shrink_option(CLI::App& command, std::string& text);

}  // namespace kbench::cli
