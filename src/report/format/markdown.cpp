// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <sstream>
#include <string_view>

#include "record/run_details.hpp"
#include "report/format/annotations.hpp"
#include "report/format/formats.hpp"
#include "report/model/audited.hpp"
#include "report/model/leaderboard.hpp"
#include "report/model/model_tables.hpp"
#include "report/model/observed.hpp"
#include "report/model/tables.hpp"
#include "report/model/verdicts.hpp"
#include "report/text/text.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kManyLines = 200;  // of candidates; other formats have all of them
constexpr std::size_t kFoldedLogLines = 8;
constexpr std::size_t kLogColumns = 160;
constexpr std::size_t kMostBytes = 60'000;  // GitHub allows 65,536 characters in a comment
constexpr std::string_view kCut =
    "\n*Cut here: a comment holds no more. The formats html, csv and json have all of it.*\n";

/// Writes sections until the page is full.
class Page {
 public:
  explicit Page(std::ostream& out) : out_(out) {}

  void add(std::string_view text) { write("", text, ""); }
  /// Adds a folded section; nothing if `text` is empty.
  void fold(std::string_view title, std::string_view text) {
    if (text.empty()) return;
    write(fmt::format("\n<details>\n<summary>{}</summary>\n", title), text, "\n</details>\n");
  }

  bool is_full() const { return is_full_; }

 private:
  void write(std::string_view before, std::string_view text, std::string_view after) {
    if (is_full_) return;
    const std::size_t around = before.size() + after.size() + kCut.size();
    const std::size_t room = kMostBytes - std::min(kMostBytes, written_ + around);
    is_full_ = text.size() > room;
    // Cuts only between lines, so that links, code and table rows stay whole.
    if (is_full_) text = text.substr(0, text.rfind('\n', room) + 1);
    out_ << before << without_commands(text) << (is_full_ ? kCut : "") << after;
    written_ += around + text.size();
  }

  std::ostream& out_;
  std::size_t written_ = 0;
  bool is_full_ = false;
};

/// True if a section is already longer than a page, so that more text would be cut.
bool is_long(std::ostream& section) {
  return section.tellp() > static_cast<std::streamoff>(kMostBytes);
}

/// `text` escaped for HTML.
std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : printable(text))
    result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

std::string section(const Report& report, void (*write)(const Report&, std::ostream&)) {
  std::ostringstream out;
  write(report, out);
  return out.str();
}

void write_candidates(const Report& report, std::ostream& out) {
  if (report.candidates.empty()) return;
  out << '\n';
  if (!lists_candidates(report, kManyLines)) {
    out << report.candidates.size() << " are too many to list here.\n";
    return;
  }
  const std::string gpu = estimated_gpu(report);
  const bool limits = has_limits(report), speedups = !report.on_cpu;
  const auto row = [&](std::initializer_list<std::string> names, const std::string& limit,
                       const std::string& speedup, const std::string& estimate,
                       const std::string& remarks) {
    out << '|';
    for (const std::string& name : names) out << ' ' << name << " |";
    if (limits) out << ' ' << limit << " |";
    if (speedups) out << ' ' << speedup << " |";
    if (!gpu.empty()) out << ' ' << estimate << " |";
    out << ' ' << remarks << " |\n";
  };
  row({"outcome", "problem", "model", "sample", time_label(report)}, "limit",
      "speedup over " +
          (report.baseline.empty() ? std::string(kNoValue) : escaped(report.baseline)),
      "estimate " + escaped(gpu), "remarks");
  out << "|---|---|---|--:|--:|" << (limits ? "--:|" : "") << (speedups ? "--:|" : "")
      << (gpu.empty() ? "" : "--:|") << "---|\n";
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    const auto time = time_ms(record, "candidate");
    std::string speedup(kNoValue);
    if (const Speedup* over = speedup_over(record, report.baseline); over != nullptr) {
      const std::string interval =
          interval_text({.value = {}, .lo = over->lo, .hi = over->hi, .why_none = {}});
      speedup = factor(over->value) + (interval.empty() ? "" : " (" + interval + ")");
    }
    row({outcome_text(record.outcome), escaped(record.problem.str()), escaped(record.model.str()),
         std::to_string(record.sample), time ? duration(*time) : std::string(kNoValue)},
        limit_text(record), speedup, short_estimate(record), escaped(remarks(record)));
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
    const std::string name = escaped(ranked_name(report, row));
    out << fmt::format("| {} | {} | {} |", row.level < 0 ? "**" + name + "**" : name, row.problems,
                       correct_text(row));
    for (const std::size_t metric : shown) {
      const Estimate& estimate = row.estimates[metric];
      const std::string interval = interval_text(estimate);
      out << fmt::format(" {}{} |", cell_text(report, row, metric),
                         interval.empty() ? "" : " (" + interval + ")");
    }
    out << '\n';
  }
  out << '\n';
  const std::vector<std::string> notes = reading_notes(report);
  for (std::size_t i = 0; i < notes.size(); ++i)
    out << escaped(notes[i]) << (i + 1 < notes.size() ? "  \n" : "\n");
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

/// The candidates of a failure group, the first with the start of its log.
std::string members(const Report& report, const RunDetails& details, const FailureGroup& group) {
  std::string text = "\n";
  const std::size_t shown = report.options.verbose
                                ? group.records.size()
                                : std::min(group.records.size(), kShownPerFailure);
  for (std::size_t i = 0; i < shown && text.size() < kMostBytes; ++i) {
    const Record& record = report.run.records[group.records[i]];
    text +=
        fmt::format("- {}: {}\n", escaped(candidate_name(record)), escaped(failure_text(record)));
    if (i > 0) continue;
    std::string why_none;
    const auto lines =
        first_lines(log_of(details.details(record, why_none, kLongestDetails)), kFoldedLogLines);
    // Indented as code within the list item; a log's text cannot end such code.
    if (!lines.empty()) text += '\n';
    for (const std::string& line : lines)
      text += "      " + fitted(with_short_paths(line), kLogColumns) + "\n";
    if (!lines.empty()) text += '\n';
  }
  if (shown < group.records.size())
    text += fmt::format("- and {} more\n", group.records.size() - shown);
  return text;
}

void write_failures(const Report& report, Page& page) {
  if (report.failures.empty()) return;
  const RunDetails details(report.run);
  page.add(fmt::format("\n## Failures: {}\n", escaped(failures_text(report))));
  for (const FailureGroup& group : report.failures) {
    if (page.is_full()) return;
    page.fold(
        html_text(fmt::format("{} × {}{}", group.records.size(),
                              outcome_text(group.outcome, group.cause), judge_suffix(group.judge))),
        members(report, details, group));
  }
}

void write_side_by_side(const Report& report, std::ostream& out) {
  const auto rows = models_side_by_side(report);
  if (rows.empty()) return;
  write_table(out, rows);
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
    out << fmt::format("\n**{}** {}{}\n", escaped(candidate_name(record)),
                       escaped(estimate_text(record)), escaped(bandwidth_text(record)));
    const auto columns = profile_columns(record);
    std::vector<std::vector<std::string>> rows = {{columns.begin(), columns.end()}};
    std::ranges::move(profile_rows(record), std::back_inserter(rows));
    write_table(out, rows);
    if (note.empty()) note = profile_note(record);
  }
  out << '\n';
  if (!note.empty()) out << note << '\n';
}

}  // namespace

void write_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows,
                 const std::vector<bool>& right) {
  out << '\n';
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out << '|';
    for (const std::string& cell : rows[r]) out << ' ' << escaped(cell) << " |";
    out << '\n';
    if (r > 0) continue;
    out << '|';
    for (std::size_t i = 0; i < rows[0].size(); ++i)
      out << ((right.empty() ? i > 0 : right[i]) ? "--:|" : "---|");
    out << '\n';
  }
}

void write_markdown(const Report& report, std::ostream& out) {
  std::ostringstream head;
  head << "# kbench: " << status_text(report) << "\n\n";
  for (const std::string& warning : report.warnings) head << "> " << escaped(warning) << "\n>\n";
  if (!report.warnings.empty()) head << '\n';
  for (const auto& [label, text] : report.run_summary) {
    head << fmt::format("- **{}**: {}\n", label, escaped(text));
  }
  Page page(out);
  page.add(head.str());
  page.add(section(report, write_summary));
  page.add(section(report, write_degenerate));
  write_failures(report, page);
  page.add(section(report, write_verdicts));
  page.fold("Models side by side", section(report, write_side_by_side));
  page.fold("Candidates", section(report, write_candidates));
  page.fold("Findings", section(report, write_findings));
  page.fold("Profiles", section(report, write_profiles));
}

}  // namespace kbench::report
