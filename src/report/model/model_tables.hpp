// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"
#include "report/model/standings.hpp"

/// What a report says of models beside its summary: by tag and kind, over each baseline, and of two
/// models on the same problems.
namespace kbench::report {

/// Fills in Report::slices, over and pairs.
void add_model_tables(Report& report, const std::vector<StandingGroup>& groups);

/// The exact test of McNemar (1947) on discordant pairs, two-sided: how likely counts at least as
/// uneven are where neither is better.
double mcnemar(std::int64_t only_a, std::int64_t only_b);

/// "alpha over compile: fast_1 0.42 (0.30–0.54), geomean 1.10x (1.02–1.20)".
std::string over_text(const BaselineRow& row);
/// "beta against alpha: …", one sentence.
std::string pair_text(const ModelPair& pair);
/// Those of the whole report, and rows of slices, for people.
std::vector<std::string> model_texts(const Report& report);

}  // namespace kbench::report
