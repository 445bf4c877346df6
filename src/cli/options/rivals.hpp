// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/candidate.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// A candidate that others are timed against (`--baseline candidate:PATH`), for one problem.
struct Rival {
  std::string baseline;  ///< as it was named
  Candidate candidate;
};

/// The rivals that `--baseline` names, for these problems. Throws UsageError where a path holds
/// none, or several for one problem, and for rules that time nothing.
std::vector<Rival> find_rivals(const EvalOptions& options, const std::vector<Problem>& problems);

/// Judges them, and lets the run take their times for what it judges from then on. Returns false
/// where it was cancelled.
bool judge_rivals(EvalRun& run, const EvalOptions& options, const std::vector<Problem>& problems,
                  const std::vector<Rival>& rivals);

}  // namespace kbench::cli
