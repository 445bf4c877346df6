// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

#include "cli/options/rivals.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// Has the cage show candidates none of the folders that these files lie in, nor those of the
/// files of baselines; `out` may be empty.
void hide_folders(EvalOptions& options, const std::vector<Problem>& problems,
                  const std::vector<Candidate>& candidates, const std::vector<Rival>& rivals,
                  const std::filesystem::path& out);

}  // namespace kbench::cli
