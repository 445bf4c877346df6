// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/format/formats.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

// Limits so that a table fits a page.
constexpr std::size_t kLinesPerTable = 40;
constexpr std::size_t kLongestName = 48;

constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kEscapes = {{
    {"–", "--"},
    {"µ", "\\textmu{}"},
    {"…", "\\ldots{}"},
    {"×", "$\\times$"},
    {"--", "-{}-{}"},  // LaTeX would set two hyphens as a dash
    {"&", "\\&"},
    {"%", "\\%"},
    {"$", "\\$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"\\", "\\textbackslash{}"},
    {"`", "\\textasciigrave{}"},
    {"<", "$<$"},
    {">", "$>$"},
    {"|", "$|$"},
    // At the start of a row LaTeX would take these for options of the previous command.
    {"[", "{[}"},
    {"]", "{]}"},
    {"*", "{*}"},
}};

/// Any `text`, escaped for LaTeX. Other characters beyond ASCII become "?", because pdfTeX has no
/// glyphs for them.
std::string latex(std::string_view text) {
  std::string result;
  const std::string plain = printable(text);
  for (std::size_t at = 0; at < plain.size();) {
    const std::string_view rest = std::string_view(plain).substr(at);
    const auto escape = std::ranges::find_if(
        kEscapes, [&](const auto& row) { return rest.starts_with(row.first); });
    if (escape != kEscapes.end()) {
      result += escape->second;
      at += escape->first.size();
      continue;
    }
    const auto byte = static_cast<unsigned char>(rest.front());
    if (byte < 0x80) result += rest.front();
    if (byte >= 0xc0) result += '?';
    ++at;
  }
  return result;
}

/// A metric's name with its parameter as a subscript: "fast$_{1.5}$@5".
std::string title(std::string_view name) {
  const std::size_t at = name.find('_') + 1;
  const std::size_t end = std::min(name.size(), name.find_first_not_of("0123456789.", at));
  if (at == 0 || at == end) return latex(name);
  return fmt::format("{}$_{{{}}}${}", latex(name.substr(0, at - 1)), name.substr(at, end - at),
                     latex(name.substr(end)));
}

/// A value of a row: the number that decides which row is best, and its text in the table.
struct Value {
  std::optional<double> number;
  std::string text;
  bool operator==(const Value& other) const { return text == other.text; }
};

/// A column of the table, after the model's name.
struct Column {
  std::string title;
  bool is_metric = false;
  std::size_t metric = 0;  ///< index into Report::metrics
};

class Latex {
 public:
  Latex(const Report& report, std::ostream& out) : report_(report), out_(out) {
    for (const SummaryRow& row : report.summary)
      if (row.level < 0 || report.options.latex_levels) rows_.push_back(&row);
    columns_.push_back({.title = "Correct"});
    for (const std::size_t metric : shown_metrics(report))
      columns_.push_back(
          {.title = title(report.metrics[metric].name()), .is_metric = true, .metric = metric});
    has_problems_ = std::ranges::any_of(
        rows_, [&](const SummaryRow* row) { return row->problems != rows_[0]->problems; });
    for (const SummaryRow* row : rows_)
      for (std::size_t column = 0; column < columns_.size(); ++column) compare(*row, column);
  }

  void write() {
    comments();
    std::size_t begin = 0;
    do {
      const std::size_t end = end_of_table(begin);
      table(std::span(rows_).subspan(begin, end - begin), begin == 0);
      begin = end;
    } while (begin < rows_.size());
  }

 private:
  /// The best and the least value of a column, over rows that may be compared.
  struct Range {
    Value best, least;
  };

  Value value_of(const SummaryRow& row, std::size_t column) const {
    if (!columns_[column].is_metric) {
      if (row.samples == 0) return {.number = {}, .text = {}};
      const double fraction = static_cast<double>(row.correct) / static_cast<double>(row.samples);
      return {.number = fraction, .text = fmt::format("{:.4f}", fraction)};
    }
    const std::size_t metric = columns_[column].metric;
    const Estimate& estimate = row.estimates[metric];
    return {.number = estimate.value, .text = value_text(report_.metrics[metric], estimate)};
  }

  /// Values of different precisions, devices, judges or levels are not compared.
  auto key_of(const SummaryRow& row, std::size_t column) const {
    return std::tuple(row.precision, row.device, row.judge, row.level, row.without_degenerate,
                      column);
  }

  void compare(const SummaryRow& row, std::size_t column) {
    Value value = value_of(row, column);
    if (!value.number) return;
    const auto [place, is_new] = ranges_.try_emplace(key_of(row, column), Range{value, value});
    Range& range = place->second;
    if (is_new) return;
    if (*value.number > *range.best.number) range.best = value;
    if (*value.number < *range.least.number) range.least = std::move(value);
    has_best_ = has_best_ || range.best != range.least;
  }

  /// True for the best of several different values. Values that look equal are equally good.
  bool is_best(const SummaryRow& row, std::size_t column) const {
    const Value value = value_of(row, column);
    if (!value.number) return false;
    const Range& range = ranges_.at(key_of(row, column));
    return range.best != range.least && value == range.best;
  }

  void comments() {
    out_ << "% needs \\usepackage{booktabs,graphicx}\n% kbench " << printable(status_text(report_))
         << '\n';
    for (const std::string& warning : report_.warnings) out_ << "% " << printable(warning) << '\n';
    for (const auto& [label, fact] : report_.run_summary)
      out_ << "% " << printable(label) << ": " << printable(fact) << '\n';
    for (const std::string& note : reading_notes(report_)) out_ << "% " << printable(note) << '\n';
  }

  /// The index after the last row of a table. A table ends between two models, unless one model has
  /// too many rows.
  std::size_t end_of_table(std::size_t begin) const {
    const std::size_t most = kLinesPerTable / (report_.options.latex_intervals ? 2 : 1);
    std::size_t end = std::min(rows_.size(), begin + most);
    if (end == rows_.size()) return end;
    while (end > begin && rows_[end]->level >= 0) --end;
    return end > begin ? end : begin + most;
  }

  std::string caption() const {
    const auto& devices = report_.run_settings.devices;
    std::string text = report_.complete ? "" : status_text(report_) + ": ";
    text += has_problems_ || rows_.empty() ? "results" : counted(rows_[0]->problems, "problem");
    if (!devices.empty()) text += fmt::format(" on {}", fmt::join(devices, ", "));
    if (!report_.on_cpu && !report_.baseline.empty())
      text += fmt::format(", speedups over {}", report_.baseline);
    if (report_.options.latex_intervals) text += "; in small print 95 % intervals";
    if (has_best_) text += "; best in bold";
    return latex(text);
  }

  void table(std::span<const SummaryRow* const> rows, bool is_first) {
    out_ << "\\begin{table}\n\\centering\n\\caption{kbench, " << caption()
         << (is_first ? ".}\n\\label{tab:kbench}\n" : " (continued).}\n");
    // A table that is too wide is scaled down to the line's width.
    out_ << "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
         << "\\begin{tabular}{l" << std::string(columns_.size() + (has_problems_ ? 1 : 0), 'r')
         << "}\n\\toprule\nModel" << (has_problems_ ? " & Problems" : "");
    for (const Column& column : columns_) out_ << " & " << column.title;
    out_ << " \\\\\n";
    for (const SummaryRow* row : rows) {
      const bool begins_block = report_.options.latex_levels && row->level < 0;
      if (row == rows.front() || begins_block) out_ << "\\midrule\n";
      line(*row);
    }
    out_ << "\\bottomrule\n\\end{tabular}}\n\\end{table}\n";
  }

  void line(const SummaryRow& row) {
    out_ << (row.level < 0 ? "" : "\\quad ")
         << latex(fitted_name(row_name(report_, row), kLongestName));
    if (has_problems_) out_ << " & " << row.problems;
    for (std::size_t column = 0; column < columns_.size(); ++column)
      out_ << " & " << cell(row, column);
    if (report_.options.latex_intervals) intervals(row);
    out_ << " \\\\\n";
  }

  std::string cell(const SummaryRow& row, std::size_t column) const {
    const Column& of = columns_[column];
    std::string text = of.is_metric ? value_of(row, column).text : correct_text(row);
    const bool is_ratio = of.is_metric && report_.metrics[of.metric].row->ratio;
    const bool has_sign = is_ratio && text.ends_with('x');
    if (has_sign) text.pop_back();
    text = latex(text) + (has_sign ? "$\\times$" : "");
    if (is_best(row, column)) text = "\\textbf{" + text + "}";
    // A geometric mean with the number of its speedups.
    return has_sign ? fmt::format("{} ({})", text, row.timed) : text;
  }

  /// A second line of the row.
  void intervals(const SummaryRow& row) {
    std::string line = has_problems_ ? " &" : "";
    bool has_any = false;
    for (const Column& column : columns_) {
      line += " &";
      const std::string text =
          column.is_metric ? interval_text(row.estimates[column.metric]) : std::string();
      if (text.empty()) continue;
      has_any = true;
      line += " {\\scriptsize " + latex(text) + "}";
    }
    if (has_any) out_ << " \\\\[-3pt]\n" << line;
  }

  const Report& report_;
  std::ostream& out_;
  std::vector<const SummaryRow*> rows_;
  std::vector<Column> columns_;
  bool has_problems_ = false;  ///< a column of problems, because the rows have different numbers
  bool has_best_ = false;      ///< a value is bold
  std::map<std::tuple<Interned, Interned, Interned, int, bool, std::size_t>, Range> ranges_;
};

}  // namespace

void write_latex(const Report& report, std::ostream& out) { Latex(report, out).write(); }

}  // namespace kbench::report
