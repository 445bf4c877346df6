// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/options/eval_input.hpp"

namespace kbench::cli {

/// Keeps only the candidates that differ from the commit `ref` of their git repository: the
/// candidate's file, a file that accompanies it, or its problem's file. A file that git does not
/// track differs. The others become `unchanged`. Adds a note that says how many there are. Throws
/// UsageError if git is missing, fails, or has no such commit.
void keep_changed(EvalInput& input, const std::string& ref);

}  // namespace kbench::cli
