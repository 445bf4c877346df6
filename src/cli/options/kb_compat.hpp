// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include "kbench/candidate.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// `--kb-compat`: makes the run judge by KernelBench's rules. Throws UsageError if `command` was
/// given an option that those rules decide.
void choose_kernelbench_rules(const CLI::App& command, EvalOptions& options);

/// If the run judges by KernelBench's rules: throws UsageError for a .cu file, which those rules do
/// not cover. Rejects an answer or input line without a module, because there the candidate's text
/// is at fault, not the user.
void check_rules_know(Candidate& candidate, const EvalOptions& options);

}  // namespace kbench::cli
