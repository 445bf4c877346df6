// SPDX-License-Identifier: MIT
#include "report/model/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "candidate/place.hpp"
#include "report/model/leaderboard.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

/// Of candidates' files. The id of a candidate of standard input may have another, as "v1.5".
constexpr std::array<std::string_view, 4> kExtensions = {".cu", ".py", ".md", ".txt"};

std::vector<std::size_t> asked_metrics(const Report& report) {
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < report.metrics.size(); ++i)
    if (report.options.verbose || report.metrics[i].row->headline) asked.push_back(i);
  return asked;
}

bool differ(const Report& report, Interned SummaryRow::*field) {
  return std::ranges::any_of(report.summary, [&](const SummaryRow& row) {
    return row.*field != report.summary[0].*field;
  });
}

}  // namespace

std::vector<std::size_t> shown_metrics(const Report& report) {
  const std::vector<std::size_t> asked = asked_metrics(report);
  std::vector<std::size_t> shown;
  std::ranges::copy_if(asked, std::back_inserter(shown), [&](std::size_t metric) {
    return std::ranges::any_of(report.summary, [&](const SummaryRow& row) {
      return row.estimates[metric].value.has_value();
    });
  });
  return shown.empty() ? asked : shown;
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

std::string ranked_name(const Report& report, const SummaryRow& row) {
  return row.rank == 0 ? row_name(report, row)
                       : fmt::format("{}. {}", row.rank, row_name(report, row));
}

std::string correct_text(const SummaryRow& row) {
  return row.samples == 0 ? std::string(kNoValue) : fmt::format("{}/{}", row.correct, row.samples);
}

std::string cell_text(const Report& report, const SummaryRow& row, std::size_t metric) {
  const Estimate& estimate = row.estimates[metric];
  std::string text = value_text(report.metrics[metric], estimate);
  if (report.metrics[metric].row->ratio && estimate.value) text += fmt::format(" ({})", row.timed);
  return text;
}

namespace {
std::vector<std::string> missing_values(const Report& report) {
  std::vector<std::string> reasons;
  const auto add = [&](std::string reason) {
    if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(std::move(reason));
  };
  const std::vector<std::size_t> shown = shown_metrics(report);
  for (const SummaryRow& row : report.summary)
    for (const std::size_t i : shown)
      if (const Estimate& estimate = row.estimates[i]; !estimate.value)
        add(fmt::format("{}: {}", kNoValue, printable(estimate.why_none)));
  std::vector<std::pair<std::string, std::string>> left_out;  // reason, and metrics
  for (const std::size_t i : asked_metrics(report)) {
    if (report.summary.empty() || std::ranges::find(shown, i) != shown.end()) continue;
    const std::string reason = printable(report.summary.front().estimates[i].why_none);
    auto found = std::ranges::find(left_out, reason, &decltype(left_out)::value_type::first);
    if (found == left_out.end()) found = left_out.insert(found, {reason, ""});
    found->second += (found->second.empty() ? "" : ", ") + report.metrics[i].name();
  }
  for (const auto& [reason, names] : left_out)
    add(fmt::format("Not shown: {} ({})", names, reason));
  return reasons;
}
}  // namespace

std::vector<std::string> reading_notes(const Report& report) {
  std::vector<std::string> notes = missing_values(report);
  if (!report.ranked_by.empty()) notes.push_back(rank_text(report));
  const auto is_best = [&](std::size_t i) { return report.metrics[i].name().starts_with("best@"); };
  if (std::ranges::any_of(shown_metrics(report), is_best))
    notes.emplace_back("best@k counts the reference as an answer, so it is never below 1.");
  notes.emplace_back(
      "Intervals are 95 % over problems; correct counts samples, fast_p and geomean (n) first "
      "samples only.");
  return notes;
}

bool lists_candidates(const Report& report, std::size_t most) {
  return report.options.verbose || report.candidates.size() <= most;
}

std::string candidate_name(const Record& record) {
  // A name such as 0.cu or that of a run folder's file says no more than the number.
  const std::filesystem::path file = std::filesystem::path(record.candidate).filename();
  const std::string stem = file.stem().string();
  const bool is_file = std::ranges::find(kExtensions, file.extension()) != kExtensions.end();
  const bool is_numbered = names_sample(stem) || run_file_name(stem);
  const std::string shown = is_file && !is_numbered ? fmt::format(" ({})", file.string()) : "";
  return printable(fmt::format("{} {} {}{}", record.problem, record.model, record.sample, shown));
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
  if (record.reduced_sizes && record.reduced_sizes->reduced()) add("reduced_sizes");
  if (record.timing && record.timing->is_bounded())
    add("bound");
  else if (record.timing && record.timing->trust == "self_reported")
    add("self_reported");
  if (record.correct_at) add("errors_like=" + record.correct_at->str());
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
  constexpr double kLeastWhole = 0.0095;  // below this, whole percents are off by up to half
  if (!record.sol || !record.sol->share) return std::string(kNoValue);
  const double share = *record.sol->share;
  return share > 0 && share < kLeastWhole ? fmt::format("{:.1g} %", share * 100)
                                          : fmt::format("{:.0f} %", share * 100);
}

std::string no_verdict_text(const Report& report) {
  const std::size_t open = report.unjudged.size();
  return fmt::format("{} of {} {} no verdict yet, so no metric counts {}", open,
                     counted(report.planned, "sample"), open == 1 ? "has" : "have",
                     open == 1 ? "it" : "them");
}

std::string status_text(const Report& report) {
  return report.complete ? "complete"
                         : fmt::format("INCOMPLETE {}/{}", report.finished, report.planned);
}

std::string time_label(const Report& report) { return report.on_cpu ? "CPU wall" : "time"; }

}  // namespace kbench::report
