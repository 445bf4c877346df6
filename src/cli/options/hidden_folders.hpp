// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

#include "cli/options/baseline_candidates.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// Hides from sandboxed candidates the folders of all these files and of the baseline files. `out`
/// may be empty.
void hide_folders(EvalOptions& options, const std::vector<Problem>& problems,
                  const std::vector<Candidate>& candidates,
                  const std::vector<BaselineCandidate>& baseline_candidates,
                  const std::filesystem::path& out);

}  // namespace kbench::cli
