// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include "kbench/run_file.hpp"

/// What the command line of a run left out on purpose, as its `run` line says.
namespace kbench::report {

/// The candidates (Record::candidate) that `--changed-since` left out.
std::set<std::string> unchanged_candidates(const RunFile& run);

/// True if PROBLEM arguments or `--candidate` chose what each of the runs judges.
bool is_narrowed(const RunFile& run);

/// The candidates that belong to no problem, if a run had to judge all candidates. In a run that
/// PROBLEM arguments, `--candidate` or `--changed-since` narrowed, they may belong to a problem
/// that was left out on purpose, so it has none. A run file of an older version has none either,
/// because it does not say what narrowed it.
LeftOut unplaced_candidates(const RunFile& run);

}  // namespace kbench::report
