// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include "kbench/candidate.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// `--kb-compat`: makes the run judge by KernelBench's rules. Throws UsageError if `command` has an
/// option that those rules decide.
void choose_kernelbench_rules(const CLI::App& command, EvalOptions& options);

/// Does nothing unless the run judges by KernelBench's rules. These do not cover .cu files, so
/// throws UsageError for one. Rejects an answer or input line without a module, because that is the
/// candidate's fault, not the user's.
void check_rules_know(Candidate& candidate, const EvalOptions& options);

}  // namespace kbench::cli
