// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <span>
#include <utility>

#include "report/format/formats.hpp"
#include "report/model/leaderboard.hpp"
#include "report/model/tables.hpp"
#include "report/model/verdicts.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

// Limits so that a table with its notes fits a page in a legible size.
constexpr std::size_t kMetricsPerTabular = 5;
constexpr std::size_t kRowsPerTable = 9;
constexpr std::size_t kRowsWithNotes = 6;
constexpr std::size_t kLongNotes = 1600;  // in bytes
constexpr std::size_t kMostCauses = 20;
constexpr std::size_t kLongestCell = 48;

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
/// glyphs for them. With `breaks`, lines may break within names and paths.
std::string latex(std::string_view text, bool breaks = false) {
  std::string result;
  const std::string plain = printable(text);
  for (std::size_t at = 0; at < plain.size();) {
    const std::string_view rest = std::string_view(plain).substr(at);
    const auto escape = std::ranges::find_if(
        kEscapes, [&](const auto& row) { return rest.starts_with(row.first); });
    if (escape != kEscapes.end()) {
      result += escape->second;
      at += escape->first.size();
    } else {
      const auto byte = static_cast<unsigned char>(rest.front());
      if (byte < 0x80) result += rest.front();
      if (byte >= 0xc0) result += '?';
      ++at;
    }
    if (breaks && (rest.front() == '_' || rest.front() == '/')) result += "\\allowbreak{}";
  }
  return result;
}

class Latex {
 public:
  Latex(const Report& report, std::ostream& out)
      : report_(report), out_(out), shown_(shown_metrics(report)) {}

  void write() {
    out_ << "% kbench " << printable(status_text(report_))
         << "; needs \\usepackage{booktabs,graphicx}\n";
    for (const std::string& warning : report_.warnings) out_ << "% " << printable(warning) << '\n';
    const std::span<const SummaryRow> rows(report_.summary);
    std::size_t begin = 0;
    do {
      const std::size_t end = end_of_table(begin);
      models(rows.subspan(begin, end - begin), begin == 0 ? "" : " (continued)",
             end == rows.size());
      begin = end;
    } while (begin < rows.size());
    causes();
  }

 private:
  /// The index after the last row of a table. A table ends between two models, unless one model has
  /// too many rows.
  std::size_t end_of_table(std::size_t begin) const {
    const auto& rows = report_.summary;
    std::size_t end = std::min(rows.size(), begin + kRowsPerTable);
    if (end == rows.size()) return end;
    while (end > begin && rows[end].level >= 0) --end;
    return end > begin ? end : begin + kRowsPerTable;
  }

  /// The `i`-th of `count` pieces of about equal length.
  template <typename T>
  static std::span<const T> piece(std::span<const T> all, std::size_t i, std::size_t count) {
    const std::size_t begin = all.size() * i / count;
    return all.subspan(begin, all.size() * (i + 1) / count - begin);
  }

  void models(std::span<const SummaryRow> rows, std::string_view which, bool is_last) {
    out_ << "\\begin{table}\n\\centering\n\\caption{kbench: " << latex(status_text(report_))
         << which << ".}\n";
    const std::span<const std::size_t> metrics(shown_);
    const std::size_t tabulars =
        std::max<std::size_t>(1, (metrics.size() + kMetricsPerTabular - 1) / kMetricsPerTabular);
    for (std::size_t i = 0; i < tabulars; ++i) tabular(rows, piece(metrics, i, tabulars));
    if (is_last) {
      const std::string text = notes();
      if (text.size() > kLongNotes || rows.size() > kRowsWithNotes)
        out_ << "\\end{table}\n\\begin{table}\n";
      out_ << text;
    }
    out_ << "\\end{table}\n";
  }

  void tabular(std::span<const SummaryRow> rows, std::span<const std::size_t> metrics) {
    // A table that is too wide is scaled down to the line's width.
    out_ << "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
         << "\\begin{tabular}{lrr" << std::string(metrics.size(), 'r')
         << "}\n\\toprule\nModel & Problems & Correct";
    for (const std::size_t metric : metrics) out_ << " & " << latex(report_.metrics[metric].name());
    out_ << " \\\\\n";
    for (const SummaryRow& row : rows) {
      if (row.level < 0 || &row == &rows.front()) out_ << "\\midrule\n";
      out_ << fmt::format("{}{} & {} & {}", row.level < 0 ? "" : "\\quad ",
                          latex(fitted_name(ranked_name(report_, row), kLongestCell)), row.problems,
                          latex(correct_text(row)));
      std::string intervals;
      for (const std::size_t metric : metrics) {
        out_ << " & " << latex(cell_text(report_, row, metric));
        const std::string interval = interval_text(row.estimates[metric]);
        intervals += " & ";
        if (!interval.empty()) intervals += "{\\scriptsize " + latex(interval) + "}";
      }
      const bool any = intervals.find("script") != std::string::npos;
      out_ << (any ? " \\\\[-3pt]\n & &" + intervals : "") << " \\\\\n";
    }
    out_ << "\\bottomrule\n\\end{tabular}}\n\n\\smallskip\n";
  }

  /// The run summary and the notes on how to read the numbers.
  std::string notes() const {
    std::string text = "\\parbox{\\linewidth}{\\footnotesize\\raggedright\n";
    for (const auto& [label, fact] : report_.run_summary)
      text += fmt::format("\\textbf{{{}}}: {}.\n", latex(label), latex(fact, true));
    for (const std::string& note : reading_notes(report_))
      text += latex(note, true) + (note.ends_with('.') ? "\n" : ".\n");
    return text + "}\n";
  }

  void causes() {
    if (report_.failures.empty()) return;
    out_ << "\\begin{table}\n\\centering\n\\caption{Failures: " << latex(failures_text(report_))
         << ".}\n\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
            "\\begin{tabular}{llr}\n\\toprule\nOutcome & Cause & Candidates \\\\\n\\midrule\n";
    const auto& groups = report_.failures;
    const std::size_t shown = std::min(groups.size(), kMostCauses);
    for (std::size_t i = 0; i < shown; ++i)
      out_ << fmt::format(
          "{} & {} & {} \\\\\n", outcome_text(groups[i].outcome),
          latex(fitted(groups[i].cause.str(), kLongestCell) + judge_suffix(groups[i].judge)),
          groups[i].records.size());
    std::size_t left_out = 0;
    for (std::size_t i = shown; i < groups.size(); ++i) left_out += groups[i].records.size();
    if (left_out > 0)
      out_ << fmt::format("{} & & {} \\\\\n", counted(groups.size() - shown, "other cause"),
                          left_out);
    out_ << "\\bottomrule\n\\end{tabular}}\n\\end{table}\n";
  }

  const Report& report_;
  std::ostream& out_;
  const std::vector<std::size_t> shown_;
};

}  // namespace

void write_latex(const Report& report, std::ostream& out) { Latex(report, out).write(); }

}  // namespace kbench::report
