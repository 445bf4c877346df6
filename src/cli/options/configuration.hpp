// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

namespace kbench::cli {

/// Sets options of a parsed command from the kbench.toml of the current folder, or of the nearest
/// one above it. Its keys are the long options of `eval`; other commands take `problems` only. An
/// option that the command line or the environment sets keeps its value. Says on stderr what the
/// file sets, because it may have come with the candidates that a run judges. Paths of problems and
/// candidates are relative to the file. Throws UsageError with file and line for an unknown key or
/// a wrong value.
void apply_configuration(CLI::App& command, CLI::App& eval);

}  // namespace kbench::cli
