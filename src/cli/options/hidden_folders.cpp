// SPDX-License-Identifier: MIT
#include "cli/options/hidden_folders.hpp"

#include <set>

namespace kbench::cli {

void hide_folders(EvalOptions& options, const std::vector<Problem>& problems,
                  const std::vector<Candidate>& candidates,
                  const std::vector<BaselineCandidate>& baseline_candidates,
                  const std::filesystem::path& out) {
  std::set<std::filesystem::path> folders;
  const auto add = [&](const std::filesystem::path& file) {
    if (!file.empty()) folders.insert(std::filesystem::absolute(file).parent_path());
  };
  for (const Problem& problem : problems) add(problem.path);
  for (const Candidate& candidate : candidates) add(candidate.path);
  for (const BaselineCandidate& one : baseline_candidates) add(one.candidate.path);
  for (const auto& file : options.baseline_files) add(file);
  add(out);
  options.hidden.assign(folders.begin(), folders.end());
}

}  // namespace kbench::cli
