// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"
#include "report/model/scored_samples.hpp"

/// The tables of models besides the summary: by tag, by kind, over each baseline, and for pairs.
namespace kbench::report {

/// Fills in Report::slices, over and pairs.
void add_model_tables(Report& report, const std::vector<ScoredSampleGroup>& groups);

/// McNemar's exact test (1947) on discordant pairs, two-sided. If neither model is better: the
/// probability of counts that differ at least as much.
double mcnemar(std::int64_t only_a, std::int64_t only_b);

/// "alpha over compile: fast_1 0.42 (0.30–0.54), geomean 1.10x (1.02–1.20)".
std::string over_text(const BaselineRow& row);
/// "beta against alpha: …", one sentence.
std::string pair_text(const ModelPair& pair);
/// The texts of Report::over and pairs; in a verbose report also of slices.
std::vector<std::string> model_texts(const Report& report);

}  // namespace kbench::report
