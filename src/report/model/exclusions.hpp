// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// "constant, zeros pass its whole check", from the names of these trivial answers.
std::string degenerate_message(const std::vector<std::string>& names);

/// Report::exclusions by problem and cause, in their order.
std::vector<Exclusion> exclusions_by_problem(const Report& report);

/// Report::excluded for people, by cause: "level1/9_A, level1/10_B and 38 more (problem failure,
/// reference_raised, 80 samples; the first: …)". A verbose report has all names. "nothing" without
/// exclusions.
std::string exclusions_text(const Report& report);

/// The degenerate problems that --include-degenerate counts: "level1/9_A (zeros passes its whole
/// check), …". Empty if there are none.
std::string degenerate_included_text(const Report& report);

}  // namespace kbench::report
