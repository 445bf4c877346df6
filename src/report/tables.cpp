// SPDX-License-Identifier: MIT
#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text.hpp"

namespace kbench::report {
namespace {

bool differ(const Report& report, Interned SummaryRow::*field) {
  return std::ranges::any_of(report.summary, [&](const SummaryRow& row) {
    return row.*field != report.summary[0].*field;
  });
}

}  // namespace

std::vector<std::size_t> shown_metrics(const Report& report) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    if (report.options.verbose || report.metrics[i].row->headline) shown.push_back(i);
  }
  return shown;
}

std::string row_name(const Report& report, const SummaryRow& row) {
  if (row.level >= 0) return row.level == 0 ? "no level" : fmt::format("level {}", row.level);
  std::string name = row.model.empty() ? "(no model)" : row.model.str();
  if (differ(report, &SummaryRow::precision)) name += ", " + row.precision.str();
  if (differ(report, &SummaryRow::device)) name += ", " + row.device.str();
  if (differ(report, &SummaryRow::judge)) name += ", by " + row.judge.str();
  if (row.without_degenerate) name += ", less degenerate";
  return printable(name);
}

std::string cell_text(const Report& report, const SummaryRow& row, std::size_t metric) {
  const Estimate& estimate = row.estimates[metric];
  std::string text = value_text(report.metrics[metric], estimate);
  if (report.metrics[metric].row->ratio && estimate.value) text += fmt::format(" ({})", row.timed);
  return text;
}

std::vector<std::string> missing_values(const Report& report) {
  std::vector<std::string> reasons;
  for (const SummaryRow& row : report.summary) {
    for (const std::size_t i : shown_metrics(report)) {
      const Estimate& estimate = row.estimates[i];
      if (estimate.value) continue;
      std::string reason = fmt::format("{}: {}", kNoValue, printable(estimate.why_none));
      if (std::ranges::find(reasons, reason) == reasons.end()) {
        reasons.push_back(std::move(reason));
      }
    }
  }
  return reasons;
}

bool lists_candidates(const Report& report) {
  return report.options.verbose || report.candidates.size() <= kManyCandidates;
}

std::string candidate_name(const Record& record) {
  return printable(fmt::format("{} {} {}", record.problem, record.model, record.sample));
}

std::string remarks(const Record& record) {
  std::string text;
  const auto add = [&](std::string_view remark) {
    text += (text.empty() ? "" : " ") + std::string(remark);
  };
  if (record.judge != kOwnJudge) add("judge=" + record.judge.str());
  if (record.outcome == Outcome::kCorrect && record.kernel_class != "own" &&
      record.kernel_class != "none" && record.kernel_class != kUnknownClass) {
    add(record.kernel_class);
  }
  if (record.shrunk && record.shrunk->reduced()) add("shrunk");
  if (record.timing && record.timing->trust == "self_reported")
    add(record.timing->is_bounded() ? "bound" : "self_reported");
  if (record.correct_at) add("correct_at=" + record.correct_at->str());
  for (const std::string& flag : record.flags) add(flag);
  if (!record.reused_from.empty()) add("reused");
  return printable(text);
}

bool has_limits(const Report& report) {
  return std::ranges::any_of(report.candidates, [&](std::size_t index) {
    const Record& record = report.run.records[index];
    return record.sol && record.sol->share;
  });
}

std::string limit_text(const Record& record) {
  return record.sol && record.sol->share ? fmt::format("{:.0f} %", *record.sol->share * 100)
                                         : std::string(kNoValue);
}

std::string status_text(const Report& report) {
  return report.complete ? "complete"
                         : fmt::format("INCOMPLETE {}/{}", report.finished, report.planned);
}

std::string time_label(const Report& report) { return report.on_cpu ? "CPU wall" : "time"; }

}  // namespace kbench::report
