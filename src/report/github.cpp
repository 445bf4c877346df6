// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "formats.hpp"
#include "kbench/run_details.hpp"
#include "marks.hpp"
#include "observed.hpp"
#include "standings.hpp"
#include "tables.hpp"
#include "text.hpp"

namespace kbench::report {
namespace {

// Actions shows ten errors and ten warnings of a step; a few more do no harm, thousands do.
constexpr std::size_t kMostAnnotations = 50;
constexpr std::size_t kLongestMessage = 1000;

/// `text` as a workflow command takes it; nothing that a candidate says ends the command's line.
std::string command_text(std::string_view text) {
  std::string result;
  for (const char c : fitted(printable(text), kLongestMessage))
    result += c == '%' ? std::string("%25") : std::string(1, c);
  return result;
}

/// The same, as the value of a property of the command.
std::string property(std::string_view text) {
  std::string result;
  for (const char c : command_text(text))
    result += c == ':' ? "%3A" : c == ',' ? "%2C" : std::string(1, c);
  return result;
}

void annotate(std::ostream& out, std::string_view severity, const Record& record, int line,
              std::string_view text) {
  const std::string_view label = outcomes()[static_cast<std::size_t>(record.outcome)].label;
  out << fmt::format("::{} file={}{},title={}::{}\n", severity, property(record.candidate),
                     line > 0 ? fmt::format(",line={}", line) : "",
                     property(fmt::format("{}: {}", label, candidate_name(record))),
                     command_text(text));
}

}  // namespace

void write_github(const Report& report, std::ostream& out) {
  const RunDetails details(report.run);
  std::size_t written = 0, left_out = 0;
  const auto may_write = [&] {
    if (written == kMostAnnotations) ++left_out;
    return written < kMostAnnotations && ++written > 0;
  };
  for (const FailureGroup& group : report.failures) {
    for (const std::size_t index : group.records) {
      if (!may_write()) continue;
      const Record& record = report.run.records[index];
      std::string why_none;
      const std::vector<Mark> marks = marks_of(
          details.whole(record), log_of(details.details(record, why_none, kLongestDetails)));
      const auto mark = std::ranges::find(marks, "error", &Mark::severity);
      annotate(out, "error", record, mark == marks.end() ? 0 : mark->line, failure_text(record));
    }
  }
  for (const std::size_t index : with_findings(report)) {
    if (report.run.records[index].outcome != Outcome::kCorrect || !may_write()) continue;
    const Record record = details.whole(report.run.records[index]);
    const Finding& finding = record.findings.front();
    annotate(out, "warning", record, finding.line, finding.message);
  }
  if (left_out > 0)
    out << fmt::format("::notice title=kbench::{} more are in the report\n",
                       counted(static_cast<std::int64_t>(left_out), "annotation"));
  for (const std::string& warning : report.warnings)
    out << "::warning title=kbench::" << command_text(warning) << '\n';
  for (const SummaryRow& row : report.summary) {
    if (row.level >= 0) continue;
    out << fmt::format("::notice title=kbench {}::{}: {}/{} correct", property(status_text(report)),
                       command_text(row_name(report, row)), row.correct, row.samples);
    for (const std::size_t metric : shown_metrics(report))
      if (row.estimates[metric].value)
        out << fmt::format(", {} {}", report.metrics[metric].name(),
                           cell_text(report, row, metric));
    out << '\n';
  }
}

}  // namespace kbench::report
