// SPDX-License-Identifier: MIT
#pragma once

#include "kbench/run.hpp"

namespace kbench::cli {

/// Reads what `--baseline-file` names: EvalOptions::stored and times_hash. On stderr it says of a
/// file that another driver's times are left out, and that not all of its lines can be read. Throws
/// UsageError where no times are to be set against them.
void take_baseline_files(EvalOptions& options);

}  // namespace kbench::cli
