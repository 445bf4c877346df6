// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// Of the names of trivial answers: "constant, zeros pass its whole check".
std::string degenerate_message(const std::vector<std::string>& names);

/// What Report::exclusions come to for each problem, in their order.
std::vector<Exclusion> exclusions_by_problem(const Report& report);

/// Report::excluded for people, by cause: "level1/9_A, level1/10_B and 38 more (problem failure,
/// reference_raised, 80 samples; the first: …)". All names where the report is verbose. "nothing"
/// where there are none.
std::string exclusions_text(const Report& report);

/// The degenerate problems that count all the same, as --include-degenerate asks: "level1/9_A
/// (zeros passes its whole check); …". Empty where there are none.
std::string degenerate_included_text(const Report& report);

}  // namespace kbench::report
