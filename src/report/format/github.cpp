// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "record/run_details.hpp"
#include "report/format/annotations.hpp"
#include "report/format/formats.hpp"
#include "report/gate/gate.hpp"
#include "report/model/observed.hpp"
#include "report/model/scored_samples.hpp"
#include "report/model/tables.hpp"
#include "report/model/verdicts.hpp"
#include "report/text/text.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::report {
namespace {

// GitHub Actions shows 10 errors, 10 warnings and 10 notices of a step, and drops the others.
constexpr std::size_t kMostOfAKind = 10;
constexpr std::size_t kLongestCommand = 1000;
constexpr std::size_t kLongestCommandFact = 300;
constexpr std::size_t kLongestNotice = 3000;

/// `text` escaped for a workflow command; a candidate's text cannot end the command's line.
std::string command_text(std::string_view text, std::size_t longest = kLongestCommand) {
  std::string result;
  for (const char c : without_commands(fitted(printable(text), longest)))
    result += c == '%' ? std::string("%25") : std::string(1, c);
  return result;
}

/// The same, escaped for the value of a command's property.
std::string property(std::string_view text) {
  std::string result;
  for (const char c : command_text(text))
    result += c == ':' ? "%3A" : c == ',' ? "%2C" : std::string(1, c);
  return result;
}

/// The candidate's path from the workspace of GitHub Actions, as annotations need it. Unchanged if
/// it is not in the workspace. A relative path is taken to be from the current folder.
std::string path_of(const Report& report, const Record& record) {
  namespace fs = std::filesystem;
  const fs::path& workspace = report.options.github_workspace;
  if (workspace.empty()) return record.candidate;
  std::error_code ignored;
  const fs::path path = fs::absolute(record.candidate, ignored).lexically_normal();
  // The current folder has no links in its path, and the workspace may have some.
  for (const fs::path& folder : {workspace, fs::weakly_canonical(workspace, ignored)}) {
    const fs::path relative = path.lexically_relative(folder);
    if (!relative.empty() && *relative.begin() != "..") return relative.string();
  }
  return record.candidate;
}

void annotate(const Report& report, std::ostream& out, std::string_view severity,
              const Record& record, int line, std::string_view what, std::string_view text) {
  out << fmt::format("::{} file={}{},title={}::{}\n", severity, property(path_of(report, record)),
                     line > 0 ? fmt::format(",line={}", line) : "",
                     property(fmt::format("{}: {}", what, candidate_name(record))),
                     command_text(text));
}

/// The failures by cause, without the expected ones; empty if there are no others.
std::string causes_text(const Report& report) {
  std::size_t expected = 0;
  std::string causes;
  for (const FailureGroup& group : report.failures) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        group.records, [&](std::size_t index) { return !is_expected_failure(report, index); }));
    expected += group.records.size() - count;
    if (count > 0)
      causes += fmt::format("{}{} {}", causes.empty() ? "" : "; ", count,
                            outcome_text(group.outcome, group.cause));
  }
  if (causes.empty()) return {};
  return fmt::format("{}{}: {}", failures_text(report),
                     expected > 0 ? fmt::format(" ({} expected)", expected) : "", causes);
}

/// Notices: the run summary, the failures by cause, and each model's results.
void write_notices(const Report& report, std::ostream& out) {
  std::string run_summary;
  for (const auto& [label, text] : report.run_summary)
    run_summary += fmt::format("{}{}: {}", run_summary.empty() ? "" : "; ", label,
                               fitted(text, kLongestCommandFact));
  const auto notice = [&](std::string_view title, std::string_view text) {
    out << fmt::format("::notice title=kbench {}::{}\n", property(title),
                       command_text(text, kLongestNotice));
  };
  notice(status_text(report), run_summary);
  const std::string causes = causes_text(report);
  if (!causes.empty()) notice("failures", causes);
  std::vector<std::string> models;
  for (const SummaryRow& row : report.summary) {
    if (row.level >= 0) continue;
    std::string& text = models.emplace_back(
        fmt::format("{}: {} correct", ranked_name(report, row), correct_text(row)));
    for (const std::size_t metric : shown_metrics(report))
      if (row.estimates[metric].value)
        text +=
            fmt::format(", {} {}", report.metrics[metric].name(), cell_text(report, row, metric));
  }
  const std::size_t room = kMostOfAKind - (causes.empty() ? 1 : 2);
  const std::size_t shown = models.size() <= room ? models.size() : room - 1;
  for (std::size_t i = 0; i < shown; ++i) notice(status_text(report), models[i]);
  if (shown < models.size())
    notice(status_text(report),
           fmt::format("{} more are in the step's summary", counted(models.size() - shown, "row")));
}

/// The candidates that get an error, most important first: one failure of each cause, then those
/// that only an expectation makes a failure, then the other failures.
std::vector<std::size_t> failed_candidates(const Report& report) {
  std::vector<std::size_t> first, others, unexpected;
  for (const FailureGroup& group : report.failures) {
    bool is_first = true;
    for (const std::size_t index : group.records) {
      if (is_expected_failure(report, index)) continue;
      (is_first ? first : others).push_back(index);
      is_first = false;
    }
  }
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    const bool may_fail = record.outcome == Outcome::kCorrect || is_exclusion(record);
    if (may_fail && !expected_instead(report, index).empty()) unexpected.push_back(index);
  }
  first.insert(first.end(), unexpected.begin(), unexpected.end());
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

void write_error(const Report& report, std::ostream& out, const RunDetails& details,
                 std::size_t index) {
  const Record& record = report.run.records[index];
  const std::string instead = expected_instead(report, index);
  if (record.outcome == Outcome::kCorrect)
    return annotate(report, out, "error", record, 0, "unexpected pass",
                    fmt::format("correct, expected {}", instead));
  std::string why_none;
  const int line = failure_line(details.whole(record),
                                log_of(details.details(record, why_none, kLongestDetails)));
  annotate(report, out, "error", record, line, outcome_text(record.outcome),
           failure_text(record) + (instead.empty() ? "" : fmt::format(" (expected {})", instead)));
}

/// Errors: failures at the candidate's line.
void write_errors(const Report& report, std::ostream& out) {
  const RunDetails details(report.run);
  std::vector<std::size_t> chosen = failed_candidates(report);
  if (chosen.size() > kMostOfAKind) chosen.resize(kMostOfAKind);
  for (const std::size_t index : chosen) write_error(report, out, details, index);
}

/// Warnings: the report's, then the sanitizers' findings in correct candidates.
void write_warnings(const Report& report, std::ostream& out) {
  std::size_t written = 0;
  for (const std::string& warning : report.warnings)
    if (written++ < kMostOfAKind)
      out << "::warning title=kbench::" << command_text(warning) << '\n';
  const RunDetails details(report.run);
  for (const std::size_t index : with_findings(report)) {
    if (report.run.records[index].outcome != Outcome::kCorrect) continue;
    const Record record = details.whole(report.run.records[index]);
    if (record.findings.empty()) continue;  // the run file has changed since it was read
    if (written++ >= kMostOfAKind) return;
    const auto own = std::ranges::find_if(
        record.findings, [&](const Finding& finding) { return is_in_file(finding, record); });
    const bool has_line = own != record.findings.end();
    annotate(report, out, "warning", record, has_line ? own->line : 0, outcome_text(record.outcome),
             has_line ? own->message : record.findings.front().message);
  }
}

}  // namespace

void write_github(const Report& report, std::ostream& out) {
  write_notices(report, out);
  write_errors(report, out);
  write_warnings(report, out);
}

}  // namespace kbench::report
