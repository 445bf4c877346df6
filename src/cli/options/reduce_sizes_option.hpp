// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace kbench::cli {

/// Registers `--reduce-sizes` and `--full-sizes`, for every subcommand that chooses sizes. `text`
/// becomes an argument for parse_reduce_sizes().
void add_reduce_sizes_option(CLI::App& command, std::string& text);

}  // namespace kbench::cli
