// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/compare/comparison.hpp"

namespace kbench::report {

/// One run compared with the base; the input of each cell.
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
  bool is_number;  ///< aligned to the right
  bool is_name;    ///< may be cut if a line is too long
};
std::span<const SampleColumn> sample_columns();

/// The baselines that have a table of speedups for people. All shared ones, if any sample is
/// decided by a speedup (because the devices differ) or with ComparisonOptions::verbose; else none.
std::vector<Interned> tabled_baselines(const ComparedView& view);
/// The table of speedups over one baseline: titles first, then a row for each shown sample with
/// that baseline in both runs. The first two columns are words, the others numbers.
std::vector<std::vector<std::string>> baseline_table(const ComparedView& view,
                                                     const Interned& baseline);

/// The summary of all runs: titles first, then a row for each count and mean.
std::vector<std::vector<std::string>> summary_table(const Comparison& comparison);

/// True if a sample must be shown even if there are too many to show all: a regression, or a slower
/// or fixed sample.
bool asks_for_attention(const ComparedSample& sample);
/// The samples that a table for people shows. All of them, or only regressions and slower or fixed
/// samples if there are more than kManyCandidates.
std::vector<const ComparedSample*> shown_samples(const ComparedView& view);
/// Says how many samples it does not show; empty if it shows all.
std::string left_out_text(const ComparedView& view);

/// "only in A, 2 samples: …", a line for each run with such samples; all names only if verbose.
std::vector<std::string> unmatched_lines(const ComparedView& view);

/// "B compared with A".
std::string pair_heading(const ComparedView& view);
/// The note that explains the numbers of the tables; empty if there are no ratios.
std::string comparison_note(const Comparison& comparison);

/// "level1/19_ReLU alpha 0".
std::string sample_name(const ComparedSample& sample);
/// The sample's outcomes in both runs: "correct → mismatch, wrong_values".
std::string outcome_change(const ComparedView& view, const ComparedSample& sample);
/// What the change is based on: "times" or "speedup over eager"; empty if nothing is.
std::string basis_text(const ComparedSample& sample);
/// The baselines that any run has in common with the base, in the order of runs.
std::vector<Interned> shared_baselines(const Comparison& comparison);
/// "5 %".
std::string percent(double share);

}  // namespace kbench::report
