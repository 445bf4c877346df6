// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "report/compare/compared_text.hpp"
#include "report/format/comparison_formats.hpp"
#include "report/format/formats.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

void write_pair(const ComparedView& view, std::ostream& out) {
  out << "\n## " << escaped(pair_heading(view)) << '\n';
  for (const std::string& note : view.pair.notes) out << "\n> " << escaped(note) << '\n';
  std::vector<std::vector<std::string>> rows(1);
  std::vector<bool> right;
  for (const SampleColumn& column : sample_columns()) {
    rows[0].push_back(column.title(view));
    right.push_back(column.is_number);
  }
  std::vector<const ComparedSample*> shown = shown_samples(view);
  std::stable_partition(shown.begin(), shown.end(),
                        [](const ComparedSample* sample) { return asks_for_attention(*sample); });
  for (const ComparedSample* sample : shown) {
    rows.emplace_back();
    for (const SampleColumn& column : sample_columns())
      rows.back().push_back(column.cell(view, *sample));
  }
  if (rows.size() > 1) write_table(out, rows, right);
  if (const std::string text = left_out_text(view); !text.empty()) out << '\n' << text << '\n';
  for (const Interned& baseline : tabled_baselines(view)) {
    const auto speedups = baseline_table(view, baseline);
    if (speedups.size() > 1) write_table(out, speedups, {false, false, true, true, true, true});
  }
  for (const std::string& names : unmatched_lines(view)) out << '\n' << escaped(names) << '\n';
}

}  // namespace

void write_comparison_markdown(const Comparison& comparison, std::ostream& out) {
  out << "# kbench: " << counted(comparison.runs.size(), "run") << " compared\n\n";
  for (const std::string& warning : comparison.warnings) out << "> " << escaped(warning) << "\n>\n";
  if (!comparison.warnings.empty()) out << '\n';
  for (std::size_t i = 0; i < comparison.runs.size(); ++i)
    out << fmt::format("- **{}** {}: {}\n", comparison.runs[i].label,
                       escaped(comparison.runs[i].name), escaped(comparison.run_summary[i]));
  // The summary, and then samples that ask for attention, are first, because a pull request's
  // comment holds only the start of a long comparison.
  write_table(out, summary_table(comparison));
  for (const RunComparison& pair : comparison.comparisons) write_pair({comparison, pair}, out);
  if (const std::string note = comparison_note(comparison); !note.empty())
    out << '\n' << escaped(note) << '\n';
}

}  // namespace kbench::report
