// SPDX-License-Identifier: MIT
#pragma once

#include "kbench/run.hpp"

namespace kbench::cli {

/// Reads the files of `--baseline-file` into EvalOptions::stored and times_hash. Warns on stderr if
/// a file's times come from another driver (they are left out), or if some of its lines cannot be
/// read. Throws UsageError if the run could not use stored times.
void take_baseline_files(EvalOptions& options);

}  // namespace kbench::cli
