// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <ostream>

#include "report/compare/compared_text.hpp"
#include "report/format/comparison_formats.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

/// Writes a table; the first row has the titles, `right` is true for columns of numbers.
void write_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows,
                 const std::vector<bool>& right) {
  out << '\n';
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out << '|';
    for (const std::string& cell : rows[r]) out << ' ' << escaped(cell) << " |";
    out << '\n';
    if (r > 0) continue;
    out << '|';
    for (std::size_t i = 0; i < rows[0].size(); ++i) out << (right[i] ? "--:|" : "---|");
    out << '\n';
  }
}

void write_pair(const ComparedView& view, std::ostream& out) {
  out << "\n## " << escaped(pair_heading(view)) << '\n';
  for (const std::string& note : view.pair.notes) out << "\n> " << escaped(note) << '\n';
  std::vector<std::vector<std::string>> rows(1);
  std::vector<bool> right;
  for (const SampleColumn& column : sample_columns()) {
    rows[0].push_back(column.title(view));
    right.push_back(column.is_number);
  }
  for (const ComparedSample* sample : shown_samples(view)) {
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
  out << "# kbench: " << counted(static_cast<std::int64_t>(comparison.runs.size()), "run")
      << " compared\n\n";
  for (const std::string& warning : comparison.warnings) out << "> " << escaped(warning) << "\n>\n";
  if (!comparison.warnings.empty()) out << '\n';
  for (std::size_t i = 0; i < comparison.runs.size(); ++i)
    out << fmt::format("- **{}** {}: {}\n", comparison.runs[i].label,
                       escaped(comparison.runs[i].name), escaped(comparison.run_summary[i]));
  for (const RunComparison& pair : comparison.comparisons) write_pair({comparison, pair}, out);
  const auto summary = summary_table(comparison);
  std::vector<bool> right(summary[0].size(), true);
  right[0] = false;
  write_table(out, summary, right);
  if (const std::string note = comparison_note(comparison); !note.empty())
    out << '\n' << escaped(note) << '\n';
}

}  // namespace kbench::report
