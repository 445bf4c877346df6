// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string_view>

#include "audited.hpp"
#include "formats.hpp"
#include "kbench/run_details.hpp"
#include "model_tables.hpp"
#include "observed.hpp"
#include "tables.hpp"
#include "text.hpp"
#include "verdicts.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kShownPerFailure = 3;
constexpr std::size_t kMostBytes = 60'000;  // GitHub takes a comment of 65,536 characters
constexpr std::string_view kCut =
    "\n*Cut here: a comment holds no more. The formats html, csv and json have all of it.*\n";

/// Writes sections until the page is full.
class Page {
 public:
  explicit Page(std::ostream& out) : out_(out) {}

  void add(std::string_view text) { write("", text, ""); }
  /// Folded away, where there is anything.
  void fold(std::string_view title, std::string_view text) {
    if (text.empty()) return;
    write(fmt::format("\n<details>\n<summary>{}</summary>\n", title), text, "\n</details>\n");
  }

 private:
  void write(std::string_view before, std::string_view text, std::string_view after) {
    if (is_full_) return;
    const std::size_t around = before.size() + after.size() + kCut.size();
    const std::size_t room = kMostBytes - std::min(kMostBytes, written_ + around);
    is_full_ = text.size() > room;
    // Whole lines alone, so that no link, code or table row is left open.
    if (is_full_) text = text.substr(0, text.rfind('\n', room) + 1);
    out_ << before << text << (is_full_ ? kCut : "") << after;
    written_ += around + text.size();
  }

  std::ostream& out_;
  std::size_t written_ = 0;
  bool is_full_ = false;
};

/// Whether a section is more than a page holds already: what comes would be cut.
bool is_long(std::ostream& section) {
  return section.tellp() > static_cast<std::streamoff>(kMostBytes);
}

std::string section(const Report& report, void (*write)(const Report&, std::ostream&)) {
  std::ostringstream out;
  write(report, out);
  return out.str();
}

void write_candidates(const Report& report, std::ostream& out) {
  if (report.candidates.empty()) return;
  out << '\n';
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
  const std::vector<std::string> texts = model_texts(report);
  if (!texts.empty()) out << '\n';
  for (const std::string& text : texts) out << "- " << escaped(text) << '\n';
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
  out << fmt::format("\n**Verdicts that differ: {} of {} that several judges gave**\n\n",
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
  const RunDetails details(report.run);
  out << '\n';
  for (const std::size_t index : found) {
    if (is_long(out)) break;
    const Record record = details.whole(report.run.records[index]);
    for (const Finding& finding : record.findings) {
      if (is_fault(finding)) continue;
      out << fmt::format("- {}: {}\n", escaped(candidate_name(record)),
                         escaped(finding_text(finding)));
    }
  }
}

void write_profiles(const Report& report, std::ostream& out) {
  const std::vector<std::size_t> found = with_profile(report);
  if (found.empty()) return;
  const RunDetails details(report.run);
  std::string_view note;
  for (const std::size_t index : found) {
    if (is_long(out)) break;
    const Record record = details.whole(report.run.records[index]);
    out << fmt::format("\n**{}** {}{}\n\n|", escaped(candidate_name(record)),
                       escaped(estimate_text(record)), escaped(bandwidth_text(record)));
    const auto columns = profile_columns(record);
    for (const std::string_view column : columns) out << ' ' << column << " |";
    out << "\n|---|";
    for (std::size_t i = 1; i < columns.size(); ++i) out << "--:|";
    if (note.empty()) note = profile_note(record);
    out << '\n';
    for (const auto& row : profile_rows(record)) {
      out << '|';
      for (const std::string& cell : row) out << ' ' << escaped(cell) << " |";
      out << '\n';
    }
  }
  out << '\n';
  if (!note.empty()) out << note << '\n';
}

}  // namespace

void write_markdown(const Report& report, std::ostream& out) {
  std::ostringstream head;
  head << "# kbench: " << status_text(report) << "\n\n";
  for (const std::string& warning : report.warnings) head << "> " << escaped(warning) << "\n>\n";
  if (!report.warnings.empty()) head << '\n';
  for (const auto& [label, text] : report.facts) {
    head << fmt::format("- **{}**: {}\n", label, escaped(text));
  }
  Page page(out);
  page.add(head.str());
  page.add(section(report, write_summary));
  page.add(section(report, write_degenerate));
  page.add(section(report, write_failures));
  page.add(section(report, write_verdicts));
  page.fold("Candidates", section(report, write_candidates));
  page.fold("Findings", section(report, write_findings));
  page.fold("Profiles", section(report, write_profiles));
}

}  // namespace kbench::report
