// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/candidate.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// A candidate that other candidates are timed against (`--baseline candidate:PATH`), for one
/// problem.
struct BaselineCandidate {
  std::string baseline;  ///< the value of `--baseline`
  Candidate candidate;
};

/// The baseline candidates that `--baseline` names, for these problems. Throws UsageError if a path
/// has no candidate, or several for one problem, or if the run's rules do not time candidates.
std::vector<BaselineCandidate> find_baseline_candidates(const EvalOptions& options,
                                                        const std::vector<Problem>& problems);

/// Judges the baseline candidates and gives their times to the run, for all candidates judged
/// later. Returns false if the run was cancelled.
bool judge_baseline_candidates(EvalRun& run, const EvalOptions& options,
                               const std::vector<Problem>& problems,
                               const std::vector<BaselineCandidate>& baseline_candidates);

}  // namespace kbench::cli
