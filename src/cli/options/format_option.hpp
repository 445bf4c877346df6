// SPDX-License-Identifier: MIT
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): the library has that name
class App;
}

namespace kbench::cli {

/// Adds `--format` with the values console and json, for commands without other formats. `json`
/// becomes true if the value is json.
void add_format_option(CLI::App& app, bool& json);

}  // namespace kbench::cli
