// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/candidate.hpp"
#include "kbench/problem.hpp"
#include "os/installation.hpp"

namespace kbench::cli {

/// What the command line says about what is to be scored.
struct EvalInputArguments {
  std::vector<std::string> problems;    ///< PROBLEM…
  std::vector<std::string> candidates;  ///< --candidates
  std::string candidate, problem;       ///< --candidate, --problem
  std::string shard;                    ///< i/n
};

/// What a run is to score.
struct EvalInput {
  std::vector<Problem> problems;      ///< the ones with candidates
  std::vector<Candidate> candidates;  ///< the whole roster, `missing` ones included
  std::vector<Candidate> shard;       ///< the part that this run judges
  std::vector<std::string> notes;     ///< for stderr
};

/// Finds both. A problem that was named and has no candidate of a model that has others is on the
/// roster as `missing`, so that leaving hard problems out flatters nobody. Throws UsageError.
EvalInput find_eval_input(const EvalInputArguments& arguments, const Installation& installation);

/// The problems alone, for candidates that come by standard input.
std::vector<Problem> find_eval_problems(const EvalInputArguments& arguments,
                                        const Installation& installation);

/// One hash over all problems' names and sources.
std::string problem_set_hash(const std::vector<Problem>& problems);

/// The words that this process was started with.
std::vector<std::string> own_command_line();

}  // namespace kbench::cli
