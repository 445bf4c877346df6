// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/candidate.hpp"
#include "kbench/problem.hpp"
#include "os/installation.hpp"

namespace kbench::cli {

/// Command-line arguments that choose problems and candidates.
struct EvalInputArguments {
  std::string problem_set;              ///< --problems
  std::vector<std::string> problems;    ///< PROBLEM…
  std::vector<std::string> candidates;  ///< --candidates
  std::string candidate, problem;       ///< --candidate, --problem
  std::string shard;                    ///< i/n
  std::string changed_since;            ///< a commit or branch of git
};

/// The problems and candidates of a run.
struct EvalInput {
  std::vector<Problem> problems;       ///< the problems that have candidates
  std::vector<Candidate> candidates;   ///< the whole manifest, `missing` ones included
  std::vector<Candidate> shard;        ///< the part that this run judges
  LeftOut left_out;                    ///< those of --candidates
  std::vector<std::string> unchanged;  ///< ids of candidates that --changed-since left out
  std::vector<std::string> notes;      ///< for stderr
};

/// Finds problems and candidates. If a model has no candidate for a named problem, the manifest
/// lists a `missing` one, so a model cannot gain by leaving out hard problems. Finds no candidates
/// only if none has changed since the commit. Throws UsageError.
EvalInput find_eval_input(const EvalInputArguments& arguments, const Installation& installation);

/// True if a candidate's file is named as in a KernelBench run folder, by numbers.
bool has_numbers_only(const std::filesystem::path& candidate);

/// False if `problems` are the shipped ones by default and no argument names them by a path.
/// Numbers in the file names of KernelBench's run folders are then not theirs.
bool is_set_named(const std::string& set, const std::vector<std::string>& arguments,
                  const std::vector<Problem>& problems, const Installation& installation);

/// Finds the problems only; the candidates come from standard input.
std::vector<Problem> find_eval_problems(const EvalInputArguments& arguments,
                                        const Installation& installation);

/// One hash over all problems' names and sources.
std::string problem_set_hash(const std::vector<Problem>& problems);

/// The command line of this process.
std::vector<std::string> own_command_line();

}  // namespace kbench::cli
