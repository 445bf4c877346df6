// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// A scored sample at one precision, on one device, by one judge: a manifest entry and its record.
struct ScoredSample {
  static constexpr std::size_t kNoRecord = static_cast<std::size_t>(-1);
  std::size_t entry = 0;           ///< index into RunFile::manifest
  std::size_t record = kNoRecord;  ///< index into RunFile::records
};

/// The scored samples of one precision, device and judge, ordered by model, problem and sample.
struct ScoredSampleGroup {
  Interned precision, device, judge;
  std::vector<ScoredSample> scored_samples;
};

/// Joins the manifest with the records, once for each combination of precision, device and judge.
/// If a sample has several verdicts (its code was changed and it was run again), the last is used.
std::vector<ScoredSampleGroup> scored_sample_groups(const RunFile& run);

/// True if no metric counts the sample, because its problem failed before any code of the candidate
/// ran. An `unsupported` sample counts, because the candidate chose the unsupported feature.
bool is_exclusion(const Record& record);

/// The trivial answers that pass the whole check of the record's problem, from any record of that
/// problem; null if no record names any.
const std::vector<std::string>* passing_answers(const Report& report, const Record& record);
/// Fills Report::unearned from the records.
void find_unearned(Report& report);

/// True if metrics leave the sample out: is_exclusion(), or a degenerate problem without
/// `--include-degenerate`.
bool is_left_out(const Report& report, const Record& record);
/// The same for a sample without a record.
bool is_left_out(const Report& report, const ScoredSampleGroup& group, const Interned& problem);

/// True if the record decides about the candidate. A harness fault does not: --resume tries again.
bool is_verdict(const Record& record);

/// What a sample without a verdict is to metrics. Reports leave it out. Gates take it for wrong, so
/// that an unfinished run meets no gate that its remaining samples may still break.
enum class NoVerdict { kLeftOut, kWrong };

/// The record's speedup over the report's baseline if metrics count it; else null.
const Speedup* earned_speedup(const Report& report, const Record& record);

/// True if there are correct samples, and no sample has a speedup.
bool is_untimed(std::span<const ProblemSamples> problems);

/// The rows of these metrics for one group. Each model has its overall row first, then a row per
/// level if there are several. If `degenerate` is not null, the same rows follow without its
/// problems.
std::vector<SummaryRow> summary_rows(const Report& report, const ScoredSampleGroup& group,
                                     std::span<const Metric> metrics,
                                     const std::set<Interned>* degenerate = nullptr,
                                     NoVerdict no_verdict = NoVerdict::kLeftOut);

/// The problems of each model of a group, in the group's order.
std::vector<std::pair<Interned, std::vector<ProblemSamples>>> problems_of_models(
    const Report& report, const ScoredSampleGroup& group);

}  // namespace kbench::report
