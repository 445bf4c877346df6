// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "report/compare/compared_text.hpp"
#include "report/format/comparison_formats.hpp"
#include "report/text/console_lines.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

using Table = std::vector<std::vector<std::string>>;

constexpr std::size_t kNarrowestName = 12;

Tone tone_of(const ComparedSample& sample) {
  if (sample.regression || sample.change == Change::kSlower) return Tone::kBad;
  if (sample.change == Change::kFaster || sample.change == Change::kFixed) return Tone::kGood;
  return Tone::kPlain;
}

class ComparisonConsole : private ConsoleLines {
 public:
  ComparisonConsole(const Comparison& comparison, std::ostream& out)
      : ConsoleLines(out, comparison.options.color, comparison.options.width),
        comparison_(comparison),
        width_(width()) {}

  void write() {
    for (std::size_t i = 0; i < comparison_.runs.size(); ++i) {
      const ComparedRun& run = comparison_.runs[i];
      toned(Tone::kBold, fmt::format("{}  {}", run.label, printable(run.name)));
      labelled("", 3, comparison_.run_summary[i]);
    }
    for (const std::string& warning : comparison_.warnings) labelled("!", 2, warning);
    for (const RunComparison& pair : comparison_.comparisons) compared({comparison_, pair});
    summary();
    if (const std::string note = comparison_note(comparison_); !note.empty()) labelled("", 2, note);
  }

 private:
  void compared(const ComparedView& view) {
    heading(pair_heading(view));
    for (const std::string& note : view.pair.notes) labelled("!", 2, note);
    samples(view);
    for (const Interned& baseline : tabled_baselines(view)) {
      const Table rows = baseline_table(view, baseline);
      if (rows.size() == 1) continue;
      line("");
      table(rows, {false, false, true, true, true, true}, {true, true});
    }
    if (!view.pair.unmatched.empty()) line("");
    for (const std::string& names : unmatched_lines(view)) labelled("", 2, names);
  }

  void samples(const ComparedView& view) {
    const std::vector<const ComparedSample*> shown = shown_samples(view);
    std::vector<bool> right, names;
    Table rows(shown.size() + 1);
    std::vector<Tone> tones = {Tone::kBold};
    for (const ComparedSample* sample : shown) tones.push_back(tone_of(*sample));
    for (const SampleColumn& column : sample_columns()) {
      right.push_back(column.is_number);
      names.push_back(column.is_name);
      rows[0].push_back(column.title(view));
      for (std::size_t i = 0; i < shown.size(); ++i)
        rows[i + 1].push_back(column.cell(view, *shown[i]));
    }
    // A remark follows its row if there is room, else it goes below.
    std::vector<std::string> remarks;
    for (auto& row : rows) {
      remarks.push_back(std::move(row.back()));
      row.pop_back();
    }
    right.pop_back();
    names.pop_back();
    remarks[0].clear();
    if (!shown.empty()) table(rows, right, names, tones, remarks);
    if (const std::string text = left_out_text(view); !text.empty()) labelled("", 2, text);
  }

  void summary() {
    const Table rows = summary_table(comparison_);
    std::vector<bool> right(rows[0].size(), true);
    right[0] = false;
    line("");
    table(rows, right, {});
  }

  /// Writes columns two spaces apart. If a line is too long, names are cut first, then the line.
  /// The first row is a heading. `tones`: the tone of each row's first cell. A row's remark goes
  /// below the row if it does not fit after it.
  void table(const Table& rows, const std::vector<bool>& right, std::vector<bool> names,
             const std::vector<Tone>& tones = {}, const std::vector<std::string>& remarks = {}) {
    names.resize(right.size());
    std::vector<std::size_t> widths(right.size(), 0);
    for (const auto& row : rows)
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
    const std::size_t used = fit(widths, names);
    if (used > width_) return stack(rows, tones, remarks);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::string text;
      for (std::size_t i = 1; i < rows[r].size(); ++i)
        text += "  " + padded(fitted(rows[r][i], widths[i]), widths[i], right[i]);
      while (text.ends_with(' ')) text.pop_back();
      const std::string first = padded(fitted(rows[r][0], widths[0]), widths[0]);
      const std::string remark = r < remarks.size() ? remarks[r] : std::string();
      const bool fits = widths[0] + columns(text) + 2 + columns(remark) <= width_;
      if (!remark.empty() && fits) text += "  " + remark;
      line(r == 0 ? painted(Tone::kBold, first + text)
                  : painted(r < tones.size() ? tones[r] : Tone::kPlain, first) + text);
      if (!fits) labelled("", 6, remark);
    }
  }

  /// Writes the cells of each row below its first cell.
  void stack(const Table& rows, const std::vector<Tone>& tones,
             const std::vector<std::string>& remarks) {
    for (std::size_t r = 1; r < rows.size(); ++r) {
      const std::vector<std::string> lines = stacked_row(rows[0], rows[r], {}, width_);
      line(painted(r < tones.size() ? tones[r] : Tone::kPlain, lines.front()));
      for (std::size_t i = 1; i < lines.size(); ++i) line(lines[i]);
      if (r < remarks.size() && !remarks[r].empty()) labelled("", 6, remarks[r]);
    }
  }

  /// Narrows the columns of names until a line fits, but none on a narrow terminal. Returns the
  /// width of a line.
  std::size_t fit(std::vector<std::size_t>& widths, const std::vector<bool>& names) const {
    std::size_t used = 2 * (widths.size() - 1);
    for (const std::size_t width : widths) used += width;
    while (used > width_ && !is_narrow()) {
      std::size_t widest = widths.size();
      for (std::size_t i = 0; i < widths.size(); ++i)
        if (names[i] && widths[i] > kNarrowestName &&
            (widest == widths.size() || widths[i] > widths[widest]))
          widest = i;
      if (widest == widths.size()) break;
      --widths[widest];
      --used;
    }
    return used;
  }

  const Comparison& comparison_;
  std::size_t width_;
};

}  // namespace

void write_comparison_console(const Comparison& comparison, std::ostream& out) {
  ComparisonConsole(comparison, out).write();
}

}  // namespace kbench::report
