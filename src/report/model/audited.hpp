// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/report.hpp"
#include "report/model/scored_samples.hpp"

namespace kbench::report {

/// The problems of the run that audits found degenerate, in natural order of their names. Adds a
/// note about problems whose audit is missing or does not match. Throws UsageError if no audit
/// matches the run.
std::vector<DegenerateProblem> degenerate_problems(const RunFile& run, const AuditFile& audits,
                                                   std::vector<std::string>& notes);

/// The audited problem of the record if it is degenerate under the record's check; else null.
const DegenerateProblem* degenerate_problem(const Report& report, const Record& record);

/// The problems that are degenerate under the checks of a group.
std::set<Interned> degenerate_in(const Report& report, const ScoredSampleGroup& group);

/// "constant, zeros".
std::string passing_text(const DegenerateProblem& problem, std::string_view separator = ", ");
/// "Degenerate problems: 2, on which trivial answers pass".
std::string degenerate_heading(const Report& report);
/// "level1/19_ReLU (judged by kb_compat): ones, zeros (caught by drawn); input (caught by signed)".
std::string degenerate_text(const DegenerateProblem& problem);

}  // namespace kbench::report
