// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// Indices into Report::metrics of the metrics that a report for people shows: all if it is
/// verbose, else the headline ones. Metrics without a value in any row are left out, unless none
/// has one.
std::vector<std::size_t> shown_metrics(const Report& report);

/// The name of a summary row: a model, with precision, device or judge if several occur; for a
/// level's row, the level.
std::string row_name(const Report& report, const SummaryRow& row);

/// The same after the model's rank, if it has one: "1. alpha".
std::string ranked_name(const Report& report, const SummaryRow& row);

/// "3/4", the correct ones of the row's samples; "–" if none counts.
std::string correct_text(const SummaryRow& row);

/// A row's value of Report::metrics[metric]; a geometric mean with the number of its speedups.
std::string cell_text(const Report& report, const SummaryRow& row, std::size_t metric);

/// The notes below the models' metrics: "–: …" for each reason why values are missing, "Not shown:
/// fast_1, geomean (no GPU)" for the metrics without any value, and how to read the others.
std::vector<std::string> reading_notes(const Report& report);

/// A report shows at most this many candidates of a failure group.
inline constexpr std::size_t kShownPerFailure = 3;

/// A report that is not verbose lists no single candidates if there are more than this.
inline constexpr std::size_t kManyCandidates = 1000;
/// True if the report lists each candidate.
bool lists_candidates(const Report& report, std::size_t most = kManyCandidates);

/// A candidate's problem, model and sample, and its file's name if that says more.
std::string candidate_name(const Record& record);
/// Judge, class and trust if they are unusual, reduced sizes, and flags. "bound": the time
/// includes host code.
std::string remarks(const Record& record);
/// True if any candidate has a known fraction of its device's limit.
bool has_limits(const Report& report);
/// That fraction, "50 %"; "–" if it is not known.
std::string limit_text(const Record& record);
/// The sentence on planned samples without a verdict: how many, and that no metric counts them.
std::string no_verdict_text(const Report& report);
/// "complete", or "INCOMPLETE 38/48".
std::string status_text(const Report& report);
/// "CPU wall time" or "time": what the candidates' times are.
std::string time_label(const Report& report);

}  // namespace kbench::report
