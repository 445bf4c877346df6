// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <ostream>

#include "formats.hpp"
#include "tables.hpp"
#include "text.hpp"

namespace kbench::report {
namespace {

/// `text` as LaTeX sets it, whatever it holds; what pdfTeX has no glyph for becomes "?".
std::string latex(std::string_view text) {
  std::string result;
  const std::string plain = printable(text);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::string_view rest = std::string_view(plain).substr(i);
    const auto byte = static_cast<unsigned char>(plain[i]);
    if (rest.starts_with("–")) {
      result += "--";
      i += 2;
    } else if (rest.starts_with("µ")) {
      result += "\\textmu{}";
      i += 1;
    } else if (byte >= 0x80) {
      if (byte >= 0xc0) result += '?';
    } else if (std::string_view("&%$#_{}").find(plain[i]) != std::string_view::npos) {
      result += '\\';
      result += plain[i];
    } else if (plain[i] == '~') {
      result += "\\textasciitilde{}";
    } else if (plain[i] == '^') {
      result += "\\textasciicircum{}";
    } else if (plain[i] == '\\') {
      result += "\\textbackslash{}";
    } else if (plain[i] == '<' || plain[i] == '>' || plain[i] == '|') {
      result += fmt::format("${}$", plain[i]);
    } else {
      result += plain[i];
    }
  }
  return result;
}

}  // namespace

void write_latex(const Report& report, std::ostream& out) {
  const std::vector<std::size_t> shown = shown_metrics(report);
  out << "% kbench " << printable(status_text(report)) << "; needs \\usepackage{booktabs}\n";
  for (const std::string& warning : report.warnings) out << "% " << printable(warning) << '\n';
  out << "\\begin{table}\n\\centering\n\\begin{tabular}{lrr" << std::string(shown.size(), 'r')
      << "}\n\\toprule\nModel & Problems & Correct";
  for (const std::size_t metric : shown) out << " & " << latex(report.metrics[metric].name());
  out << " \\\\\n";
  for (const SummaryRow& row : report.summary) {
    if (row.level < 0) out << "\\midrule\n";
    out << fmt::format("{}{} & {} & {}/{}", row.level < 0 ? "" : "\\quad ",
                       latex(row_name(report, row)), row.problems, row.correct, row.samples);
    for (const std::size_t metric : shown) {
      const Estimate& estimate = row.estimates[metric];
      const std::string interval = interval_text(estimate);
      out << " & " << latex(cell_text(report, row, metric));
      if (!interval.empty()) out << " {\\scriptsize [" << latex(interval) << "]}";
    }
    out << " \\\\\n";
  }
  out << "\\bottomrule\n\\end{tabular}\n\\caption{"
      << (report.complete ? "" : latex(status_text(report)) + ". ");
  // What a reader needs to compare the numbers with others.
  for (const auto& [label, text] : report.facts) {
    if (label == "run" || label == "excluded") continue;
    out << latex(label) << ": " << latex(text) << ". ";
  }
  out << "Intervals are 95\\,\\% bootstrap intervals over problems.}\n\\end{table}\n";
}

}  // namespace kbench::report
