// SPDX-License-Identifier: MIT
#include "cli/options/problem_set.hpp"

namespace kbench::cli {

void add_problem_set_option(CLI::App& app, std::string& set) {
  app.add_option("--problems", set, "folder of the default problem set")
      ->envname("KBENCH_PROBLEMS")
      ->group("");
}

std::vector<std::filesystem::path> problem_sets(const std::string& set,
                                                const Installation& installation) {
  if (set.empty()) return {installation.problems};
  return {set};
}

}  // namespace kbench::cli
