// SPDX-License-Identifier: MIT
#pragma once

#include "kbench/report.hpp"
#include "report/text/console_lines.hpp"

namespace kbench::report {

/// A line for each candidate: outcome, problem, model, sample, time, estimate, share of the
/// device's limit, speedup, remarks. What the terminal has no columns for stands among the remarks,
/// and these on a line of their own where there is no room behind the others.
void write_candidate_lines(const Report& report, ConsoleLines& out);

}  // namespace kbench::report
