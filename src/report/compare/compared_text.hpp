// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/compare/comparison.hpp"

namespace kbench::report {

/// One run compared with the base: what a cell is made of.
struct ComparedView {
  const Comparison& comparison;
  const RunComparison& pair;
  const ComparedRun& base() const { return comparison.runs.front(); }
  const ComparedRun& other() const { return comparison.runs[pair.other]; }
  const Record& base_record(const ComparedSample& sample) const {
    return base().run.records[sample.base_record];
  }
  const Record& other_record(const ComparedSample& sample) const {
    return other().run.records[sample.other_record];
  }
};

/// One column of the table of samples for people. To add one: a row in sample_columns().
struct SampleColumn {
  std::string (*title)(const ComparedView& view);
  std::string (*cell)(const ComparedView& view, const ComparedSample& sample);
  bool is_number;  ///< stands at the right
  bool is_name;    ///< may be cut where a line is too narrow
};
std::span<const SampleColumn> sample_columns();

/// The baselines whose speedups stand in tables for people: where devices differ (they decide
/// there), or all with ComparisonOptions::verbose.
std::vector<Interned> tabled_baselines(const ComparedView& view);
/// Cells for the speedups over one baseline: titles first, then a row for each shown sample that
/// both runs have one of. The first two columns are words, the others numbers.
std::vector<std::vector<std::string>> baseline_table(const ComparedView& view,
                                                     const Interned& baseline);

/// The summary of all runs: titles first, then a row for each count and mean.
std::vector<std::vector<std::string>> summary_table(const Comparison& comparison);

/// The samples that a table for people shows: all, or of very many those that ask for attention.
std::vector<const ComparedSample*> shown_samples(const ComparedView& view);
/// Says how many it does not show; empty where it shows all.
std::string left_out_text(const ComparedView& view);

/// "only in A" and the names, a line for each run that has such samples; cut unless verbose.
std::vector<std::string> unmatched_lines(const ComparedView& view);

/// "B compared with A".
std::string pair_heading(const ComparedView& view);
/// What the numbers of the tables mean.
std::string comparison_note(const Comparison& comparison);

/// "level1/19_ReLU alpha 0".
std::string sample_name(const ComparedSample& sample);
/// "correct → mismatch, values": what became of the sample in either run.
std::string outcome_change(const ComparedView& view, const ComparedSample& sample);
/// "times", or "speedup over eager": what decides; empty where nothing does.
std::string basis_text(const ComparedSample& sample);
/// The baselines that any run shares with the base, in the order of runs.
std::vector<Interned> shared_baselines(const Comparison& comparison);
/// "5 %".
std::string percent(double share);

}  // namespace kbench::report
