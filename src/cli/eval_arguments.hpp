// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "cli/options/eval_options.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// A manifest entry for each candidate.
std::vector<ManifestEntry> manifest_of(const std::vector<Candidate>& candidates,
                                       const std::vector<Problem>& problems);

/// Throws UsageError, before anything is judged, if the run's device cannot do what the options ask
/// for, or if a gate can never be met.
void check_before_run(const EvalArguments& arguments, const std::vector<Problem>& problems,
                      const EvalRun& run);

/// With `--resume`: the content of the run file `out`, if it has any. Throws UsageError if it has
/// records of the other device class, because one report cannot have both.
std::optional<RunFile> earlier_run(const EvalArguments& arguments, const std::filesystem::path& out,
                                   const EvalRun& run);

}  // namespace kbench::cli
