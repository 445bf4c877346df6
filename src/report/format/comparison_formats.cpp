// SPDX-License-Identifier: MIT
#include "report/format/comparison_formats.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "report/compare/compared_gate.hpp"
#include "report/compare/compared_summary.hpp"
#include "report/format/report_files.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

constexpr std::array kComparisonFormats = {
    ComparisonFormat{"console", "txt", report::write_comparison_console},
    ComparisonFormat{"json", "json", report::write_comparison_json},
    ComparisonFormat{"csv", "csv", report::write_comparison_csv},
    ComparisonFormat{"markdown", "md", report::write_comparison_markdown},
};

constexpr std::int64_t kNamedRegressions = 3;

/// "b.jsonl has 2 regressions against a.jsonl (broken, …): level1/19_ReLU alpha 0 (…)".
std::string regressions_text(const report::ComparedView& view) {
  const RunComparison& pair = view.pair;
  std::string names;
  std::int64_t named = 0;
  for (const ComparedSample& sample : pair.samples) {
    if (!sample.regression || named == kNamedRegressions) continue;
    ++named;
    names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", report::sample_name(sample),
                         sample.change == Change::kBroken
                             ? report::outcome_change(view, sample)
                             : "slower by " + report::percent(1 / sample.decisive()->value - 1));
  }
  const auto more = pair.regressions - named;
  return fmt::format(
      "{} has {} against {} (broken, or slower by over {}): {}{}",
      report::printable(view.other().name), report::counted(pair.regressions, "regression"),
      report::printable(view.base().name), report::percent(view.comparison.options.regression),
      names, more > 0 ? fmt::format("; and {} more", more) : "");
}

}  // namespace

std::span<const ComparisonFormat> comparison_formats() { return kComparisonFormats; }

ComparisonFile comparison_file(std::string_view argument) {
  return report::parse_report_file<ComparisonFile>(comparison_formats(), argument);
}

void write_comparison(const Comparison& comparison, std::span<const ComparisonFile> report_files,
                      std::ostream& out) {
  report::write_report_files(comparison, report_files, comparison_formats().front(), out);
}

double parse_regression_gate(std::string_view argument) {
  constexpr std::string_view kName = "regression";
  const std::size_t equals = argument.find('=');
  if (argument.substr(0, equals) != kName)
    throw UsageError(fmt::format("there is no gate \"{}\"; there is {}, as in {}=5%{}", argument,
                                 kName, kName,
                                 did_you_mean(argument.substr(0, equals), {std::string(kName)})));
  if (equals == std::string_view::npos) return ComparisonOptions().regression;
  std::string_view number = argument.substr(equals + 1);
  const bool is_percent = number.ends_with('%');
  if (is_percent) number.remove_suffix(1);
  const double share = to_number<double>(number).value_or(-1) / (is_percent ? 100 : 1);
  if (!(share >= 0 && share < 1))
    throw UsageError(
        fmt::format("\"{}\" has no fraction from 0 to below 1 after \"=\": write {}=5% or {}=0.05",
                    argument, kName, kName));
  return share;
}

std::vector<std::string> regressions(const Comparison& comparison) {
  std::vector<std::string> sentences;
  for (const RunComparison& pair : comparison.comparisons) {
    const report::ComparedView view{comparison, pair};
    const std::string base = report::printable(view.base().name);
    const std::string other = report::printable(view.other().name);
    const auto add = [&](const std::vector<std::string>& names, std::string_view what) {
      if (!names.empty())
        sentences.push_back(fmt::format("{} {} {} that are correct in {}: {}", other, what,
                                        report::counted(names.size(), "sample"), base,
                                        report::named(names)));
    };
    add(report::unjudged_names(view), "has no verdict yet on");
    add(report::gone_names(view), "does not plan");
    // If both ran on a CPU, only outcomes are compared, and the comparison's notes say so.
    const bool by_time = !report::are_of_a_cpu(view.base().run, view.other().run);
    std::string why = report::why_nothing_compared(view, false);
    if (why.empty() && by_time) why = report::why_nothing_compared(view, true);
    if (!why.empty())
      sentences.push_back(fmt::format("{}: no sample could be compared with {}{}: {}", other, base,
                                      by_time ? " by time" : "", why));
    if (pair.regressions > 0) sentences.push_back(regressions_text(view));
  }
  return sentences;
}

}  // namespace kbench
