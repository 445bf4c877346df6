// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// Where the metrics that a report for people shows stand in Report::metrics: all of them where it
/// is verbose, else the headline ones; of these the ones that have a value in any row.
std::vector<std::size_t> shown_metrics(const Report& report);

/// The name of a summary row: the model, with precision, device or judge where several occur; or a
/// level.
std::string row_name(const Report& report, const SummaryRow& row);

/// The same after the model's rank, where it has one: "1. alpha".
std::string ranked_name(const Report& report, const SummaryRow& row);

/// A row's value of the metric at that place; a geometric mean with the count of its speedups.
std::string cell_text(const Report& report, const SummaryRow& row, std::size_t metric);

/// What stands below the models' metrics: "–: …" for each reason why values are missing, "Not
/// shown: fast_1, geomean (no GPU)" for the metrics that have none at all, and how the others are
/// read.
std::vector<std::string> reading_notes(const Report& report);

/// Of the candidates that failed in the same way, so many are shown.
inline constexpr std::size_t kShownPerFailure = 3;

/// How many candidates' lines are too many for people, unless they ask.
inline constexpr std::size_t kManyCandidates = 1000;
/// Whether the report lists each candidate.
bool lists_candidates(const Report& report, std::size_t most = kManyCandidates);

/// A candidate's problem, model and sample.
std::string candidate_name(const Record& record);
/// Class (where not own), trust (where not the best; "bound": the time is not what was told),
/// whether at reduced sizes, and flags.
std::string remarks(const Record& record);
/// Whether any candidate's share of its device's limit is known.
bool has_limits(const Report& report);
/// That share, "50 %"; "–" where it is not known.
std::string limit_text(const Record& record);
/// "complete", or "INCOMPLETE 38/48".
std::string status_text(const Report& report);
/// "CPU wall time" or "time": what the candidates' times are.
std::string time_label(const Report& report);

}  // namespace kbench::report
