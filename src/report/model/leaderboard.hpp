// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"

/// Ranks the models of one report.
namespace kbench::report {

/// Orders the models of each group of summary rows by the first of fast_1, pass@1 and correct that
/// has a value. Fills in their ranks and Report::ranked_by. A group with one model has no ranks.
void rank_models(Report& report);

/// A sentence that names the metric of the ranks.
std::string rank_text(const Report& report);
/// A warning if the ranked models had different problems; else empty.
std::string uneven_models(const Report& report);

/// A table of problems by models: titles first, then a row for each problem. A cell is the first
/// sample's speedup or outcome; with several samples, the fraction of correct ones precedes it.
/// Empty for one model, and for more models than fit side by side.
std::vector<std::vector<std::string>> models_side_by_side(const Report& report);

}  // namespace kbench::report
