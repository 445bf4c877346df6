// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// One planned sample at one precision on one device by one judge: a roster entry, and its verdict.
struct Standing {
  static constexpr std::size_t kNoRecord = static_cast<std::size_t>(-1);
  std::size_t entry = 0;           ///< index into RunFile::roster
  std::size_t record = kNoRecord;  ///< index into RunFile::records
};

/// The standings of one precision on one device by one judge, by model, problem and sample.
struct StandingGroup {
  Interned precision, device, judge;
  std::vector<Standing> standings;
};

/// Joins the roster with the records, once for each precision, device and judge that occur
/// together. Of several verdicts for one sample (its code was changed and it was run again) the
/// last counts.
std::vector<StandingGroup> standing_groups(const RunFile& run);

/// Whether the sample is left out of all denominators: kbench ruled it out before any code of its
/// candidate ran. What is `unsupported` counts, since the candidate decides what it asks for.
bool is_exclusion(const Record& record);

/// The trivial answers that pass the whole check of the record's problem, as any record of it says;
/// null if there are none, or if none of its records knows.
const std::vector<std::string>* passing_answers(const Report& report, const Record& record);
/// Fills Report::unearned from the records.
void find_unearned(Report& report);

/// Whether metrics leave the sample out: is_exclusion(), or a degenerate problem that the report is
/// not to include.
bool is_left_out(const Report& report, const Record& record);
/// The same of a sample without a record.
bool is_left_out(const Report& report, const StandingGroup& group, const Interned& problem);

/// The record's speedup over the report's baseline where metrics count it; else null.
const Speedup* earned_speedup(const Report& report, const Record& record);

/// The rows of these metrics for one group: per model overall first, then by level where there are
/// several; then the same without the problems in `degenerate`, where that is given.
std::vector<SummaryRow> summary_rows(const Report& report, const StandingGroup& group,
                                     std::span<const Metric> metrics,
                                     const std::set<Interned>* degenerate = nullptr);

/// The problems of each model of a group, in the order of its standings.
std::vector<std::pair<Interned, std::vector<ProblemSamples>>> problems_of_models(
    const Report& report, const StandingGroup& group);

}  // namespace kbench::report
