// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include "kbench/candidate.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// `--kb-compat`: has the run judge by KernelBench's rules. Throws UsageError where `command` was
/// given an option that those decide.
void choose_kernelbench_rules(const CLI::App& command, EvalOptions& options);

/// Throws UsageError for a candidate that KernelBench's rules say nothing of, where the run is by
/// them.
void check_rules_know(const Candidate& candidate, const EvalOptions& options);

}  // namespace kbench::cli
