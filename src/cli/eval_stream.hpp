// SPDX-License-Identifier: MIT
#pragma once

#include "cli/eval_arguments.hpp"

namespace kbench::cli {

/// `--candidates -`: judges candidates from standard input, and answers each line. Returns the exit
/// code.
int run_stream(const EvalArguments& arguments, const Installation& installation, int cancel_fd);

}  // namespace kbench::cli
