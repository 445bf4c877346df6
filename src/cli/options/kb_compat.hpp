// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include "kbench/candidate.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// `--kb-compat`: has the run judge by KernelBench's rules. Throws UsageError where `command` was
/// given an option that those decide.
void choose_kernelbench_rules(const CLI::App& command, EvalOptions& options);

/// If the run is by KernelBench's rules: throws UsageError for a .cu file, which they say nothing
/// of, and rejects an answer or a line that holds no module, since its text decided that.
void check_rules_know(Candidate& candidate, const EvalOptions& options);

}  // namespace kbench::cli
