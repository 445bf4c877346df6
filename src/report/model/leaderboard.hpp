// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kbench/report.hpp"

/// Ranks the models of one report.
namespace kbench::report {

/// Orders the models of each group of summary rows by the first of fast_1, pass@1 and correct that
/// has a value. Fills in their ranks and Report::ranked_by. A group with one model has no ranks.
void rank_models(Report& report);

/// The index into Report::metrics of the metric by which models are ranked, also if there is only
/// one model; none if no metric for ranks has a value.
std::optional<std::size_t> leading_metric(const Report& report);

/// The result in one sentence: the leading metric and the correct samples of the best models, or of
/// the only one.
std::string result_text(const Report& report);

/// A sentence that names the metric of the ranks.
std::string rank_text(const Report& report);
/// A warning if the ranked models had different problems; else empty.
std::string uneven_models(const Report& report);

/// A table of problems by models: titles first, then a row for each problem. A cell is the first
/// sample's speedup or outcome; with several samples, the fraction of correct ones precedes it.
/// Empty for one model, and for more models than fit side by side.
std::vector<std::vector<std::string>> models_side_by_side(const Report& report);

}  // namespace kbench::report
