// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"

/// Several models of one report against one another.
namespace kbench::report {

/// Orders the models of each group of summary rows by the first of fast_1, pass@1 and correct that
/// has a value, and fills in their ranks and Report::ranked_by. One model alone has no rank.
void rank_models(Report& report);

/// What the ranks are by.
std::string rank_text(const Report& report);
/// That ranked models were not asked the same problems; empty where they were.
std::string uneven_models(const Report& report);

/// A table of what became of each problem in each model: titles first, then a row for each problem.
/// A cell is the first sample's speedup, or its outcome, after the share of samples that are
/// correct where there are several. Empty where there is one model, or more than fit side by side.
std::vector<std::vector<std::string>> models_side_by_side(const Report& report);

}  // namespace kbench::report
