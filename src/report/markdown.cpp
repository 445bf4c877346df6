// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "audited.hpp"
#include "formats.hpp"
#include "observed.hpp"
#include "tables.hpp"
#include "text.hpp"
#include "verdicts.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kShownPerFailure = 3;

void write_candidates(const Report& report, std::ostream& out) {
  out << "\n## Candidates\n\n";
  if (!lists_candidates(report)) {
    out << report.candidates.size() << " are too many to list here.\n";
    return;
  }
  const std::string gpu = estimated_gpu(report);
  const bool limits = has_limits(report);
  out << fmt::format(
      "| outcome | problem | model | sample | {} |{} speedup over {} |{} remarks |\n",
      time_label(report), limits ? " limit |" : "",
      report.baseline.empty() ? "–" : escaped(report.baseline),
      gpu.empty() ? "" : " estimate " + escaped(gpu) + " |");
  out << "|---|---|---|--:|--:|--:|" << (limits ? "--:|" : "") << (gpu.empty() ? "" : "--:|")
      << "---|\n";
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    const auto time = time_ms(record, "candidate");
    std::string speedup(kNoValue);
    if (const Speedup* over = speedup_over(record, report.baseline);
        over != nullptr && !report.on_cpu) {
      const std::string interval =
          interval_text({.value = {}, .lo = over->lo, .hi = over->hi, .why_none = {}});
      speedup = factor(over->value) + (interval.empty() ? "" : " (" + interval + ")");
    }
    out << fmt::format(
        "| {} | {} | {} | {} | {} |{} {} |{} {} |\n",
        outcomes()[static_cast<std::size_t>(record.outcome)].label, escaped(record.problem.str()),
        escaped(record.model.str()), record.sample, time ? duration(*time) : std::string(kNoValue),
        limits ? " " + limit_text(record) + " |" : "", speedup,
        gpu.empty() ? "" : " " + short_estimate(record) + " |", escaped(remarks(record)));
  }
}

void write_summary(const Report& report, std::ostream& out) {
  const std::vector<std::size_t> shown = shown_metrics(report);
  out << "\n## Models\n\n| model | problems | correct |";
  for (const std::size_t metric : shown) {
    out << ' ' << escaped(report.metrics[metric].name()) << " |";
  }
  out << "\n|---|--:|--:|";
  for (std::size_t i = 0; i < shown.size(); ++i) out << "--:|";
  out << '\n';
  for (const SummaryRow& row : report.summary) {
    const std::string name = escaped(row_name(report, row));
    out << fmt::format("| {} | {} | {}/{} |", row.level < 0 ? "**" + name + "**" : name,
                       row.problems, row.correct, row.samples);
    for (const std::size_t metric : shown) {
      const Estimate& estimate = row.estimates[metric];
      const std::string interval = interval_text(estimate);
      out << fmt::format(" {}{} |", cell_text(report, row, metric),
                         interval.empty() ? "" : " (" + interval + ")");
    }
    out << '\n';
  }
  out << '\n';
  for (const std::string& reason : missing_values(report)) out << escaped(reason) << "  \n";
  out << "Intervals are 95 % over problems; correct counts samples, fast\\_p and geomean \\(n\\) "
         "first samples only.\n";
}

void write_degenerate(const Report& report, std::ostream& out) {
  if (!report.audited) return;
  out << "\n## " << degenerate_heading(report) << "\n\n";
  for (const DegenerateProblem& problem : report.degenerate)
    out << fmt::format("- {}\n", escaped(degenerate_text(problem)));
}

void write_verdicts(const Report& report, std::ostream& out) {
  const auto shared = shared_verdicts(report);
  if (shared.empty()) return;
  out << fmt::format("\n## Verdicts that differ: {} of {} that several judges gave\n\n",
                     std::ranges::count(shared, true, &Verdicts::differ), shared.size());
  for (const Verdicts& verdicts : shared)
    if (verdicts.differ)
      out << fmt::format("- {}: {}\n",
                         escaped(candidate_name(report.run.records[verdicts.records.front()])),
                         escaped(verdicts_text(report, verdicts)));
}

void write_failures(const Report& report, std::ostream& out) {
  if (report.failures.empty()) return;
  out << "\n## Failures\n";
  for (const FailureGroup& group : report.failures) {
    const std::string_view label = outcomes()[static_cast<std::size_t>(group.outcome)].label;
    out << fmt::format("\n**{} × {}{}**\n\n", group.records.size(), label,
                       (group.cause.empty() ? "" : ", " + escaped(group.cause.str())) +
                           escaped(judge_suffix(group.judge)));
    const std::size_t shown = report.options.verbose
                                  ? group.records.size()
                                  : std::min(group.records.size(), kShownPerFailure);
    for (std::size_t i = 0; i < shown; ++i) {
      const Record& record = report.run.records[group.records[i]];
      out << fmt::format("- {}: {}\n", escaped(candidate_name(record)),
                         escaped(failure_text(record)));
    }
    if (shown < group.records.size()) {
      out << fmt::format("- and {} more\n", group.records.size() - shown);
    }
  }
}

void write_findings(const Report& report, std::ostream& out) {
  const std::vector<std::size_t> found = with_findings(report);
  if (found.empty()) return;
  out << "\n## Findings\n\n";
  for (const std::size_t index : found) {
    const Record& record = report.run.records[index];
    for (const Finding& finding : record.findings) {
      if (finding.kind == "fault") continue;
      out << fmt::format("- {}: {}\n", escaped(candidate_name(record)),
                         escaped(finding_text(finding)));
    }
  }
}

void write_profiles(const Report& report, std::ostream& out) {
  const std::vector<std::size_t> found = with_profile(report);
  if (found.empty()) return;
  out << "\n## Profiles\n";
  for (const std::size_t index : found) {
    const Record& record = report.run.records[index];
    out << fmt::format("\n**{}** {}\n\n|", escaped(candidate_name(record)),
                       escaped(estimate_text(record)));
    for (const std::string_view column : kProfileColumns) out << ' ' << column << " |";
    out << "\n|---|";
    for (std::size_t i = 1; i < std::size(kProfileColumns); ++i) out << "--:|";
    out << '\n';
    for (const auto& row : profile_rows(record)) {
      out << '|';
      for (const std::string& cell : row) out << ' ' << escaped(cell) << " |";
      out << '\n';
    }
  }
  out << '\n' << kEstimateNote << '\n';
}

}  // namespace

void write_markdown(const Report& report, std::ostream& out) {
  out << "# kbench: " << status_text(report) << "\n\n";
  for (const std::string& warning : report.warnings) out << "> " << escaped(warning) << "\n>\n";
  if (!report.warnings.empty()) out << '\n';
  for (const auto& [label, text] : report.facts) {
    out << fmt::format("- **{}**: {}\n", label, escaped(text));
  }
  write_summary(report, out);
  write_degenerate(report, out);
  write_candidates(report, out);
  write_verdicts(report, out);
  write_failures(report, out);
  write_findings(report, out);
  write_profiles(report, out);
}

}  // namespace kbench::report
