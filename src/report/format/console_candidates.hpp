// SPDX-License-Identifier: MIT
#pragma once

#include "kbench/report.hpp"
#include "report/text/console_lines.hpp"

namespace kbench::report {

/// Writes a line for each candidate: outcome, problem, model, sample, time, estimate, fraction of
/// the device's limit, speedup, remarks. Values that do not fit a column become remarks; remarks
/// that do not fit the line get their own line.
void write_candidate_lines(const Report& report, ConsoleLines& out);

}  // namespace kbench::report
