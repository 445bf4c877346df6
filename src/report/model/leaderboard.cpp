// SPDX-License-Identifier: MIT
#include "report/model/leaderboard.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "report/model/scored_samples.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kMostSideBySide = 8;
constexpr std::size_t kLongestModel = 40;
constexpr std::size_t kMostBest = 3;
constexpr std::string_view kLeading[] = {"fast_1", "pass@1", "correct"};

using Rows = std::vector<SummaryRow>;

bool is_overall(const SummaryRow& row) { return row.level < 0 && !row.without_degenerate; }

/// Rows with the same precision, device and judge are ranked together.
auto group_of(const SummaryRow& row) { return std::tie(row.precision, row.device, row.judge); }

/// A model's rows in one group, the overall row first.
struct Block {
  double value = 0;
  Rows rows;
};

/// Ranks the rows from `begin` to `end`, which are one group.
void rank(Rows& summary, std::size_t begin, std::size_t end, std::size_t metric) {
  std::vector<Block> blocks;
  for (std::size_t i = begin; i < end; ++i) {
    if (is_overall(summary[i]))
      blocks.push_back(
          {summary[i].estimates[metric].value.value_or(-std::numeric_limits<double>::infinity()),
           {}});
    blocks.back().rows.push_back(std::move(summary[i]));
  }
  std::ranges::stable_sort(blocks, std::greater(), &Block::value);
  std::size_t at = begin;
  int rank = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i == 0 || blocks[i].value < blocks[i - 1].value) rank = static_cast<int>(i) + 1;
    const bool has_value = std::isfinite(blocks[i].value);
    blocks[i].rows.front().rank = has_value && blocks.size() > 1 ? rank : 0;
    for (SummaryRow& row : blocks[i].rows) summary[at++] = std::move(row);
  }
}

struct Cell {
  std::int64_t samples = 0, correct = 0;
  const Record* first = nullptr;
};

std::string times_text(const Report& report, const Cell& cell, bool several_samples) {
  if (cell.first == nullptr) return std::string(kNoValue);
  const Record& record = *cell.first;
  const Speedup* over = earned_speedup(report, record);
  std::string text = over != nullptr ? factor(over->value) : outcome_text(record.outcome);
  return several_samples ? fmt::format("{}/{} {}", cell.correct, cell.samples, text) : text;
}

struct NaturalLess {
  bool operator()(const Interned& a, const Interned& b) const { return natural_less(a, b); }
};

}  // namespace

std::optional<std::size_t> leading_metric(const Report& report) {
  for (const std::string_view name : kLeading)
    for (std::size_t i = 0; i < report.metrics.size(); ++i)
      if (report.metrics[i].name() == name &&
          std::ranges::any_of(report.summary, [&](const SummaryRow& row) {
            return row.estimates[i].value.has_value();
          }))
        return i;
  return std::nullopt;
}

void rank_models(Report& report) {
  const auto metric = leading_metric(report);
  if (!metric) return;
  Rows& summary = report.summary;
  for (std::size_t begin = 0, end = 0; begin < summary.size(); begin = end) {
    while (end < summary.size() && group_of(summary[end]) == group_of(summary[begin])) ++end;
    rank(summary, begin, end, *metric);
  }
  if (std::ranges::any_of(summary, [](const SummaryRow& row) { return row.rank > 0; }))
    report.ranked_by = report.metrics[*metric].name();
}

std::string uneven_models(const Report& report) {
  if (report.ranked_by.empty()) return {};
  std::map<Interned, std::set<Interned>> problems;
  for (const ManifestEntry& entry : report.run.manifest)
    problems[entry.model].insert(entry.problem);
  std::set<Interned> common = problems.empty() ? std::set<Interned>() : problems.begin()->second;
  std::vector<std::string> counts;
  bool uneven = false;
  for (const auto& [model, own] : problems) {
    uneven = uneven || own != problems.begin()->second;
    std::erase_if(common, [&own = own](const Interned& problem) { return !own.contains(problem); });
    counts.push_back(
        fmt::format("{} {}", fitted(printable(model.str()), kLongestModel), own.size()));
  }
  if (!uneven) return {};
  if (counts.size() > kMostSideBySide) {
    counts.resize(kMostSideBySide);
    counts.emplace_back("…");
  }
  return fmt::format("models have different problems, and each is ranked by its own: {} ({})",
                     fmt::join(counts, ", "),
                     common.empty() ? "no problem in common"
                                    : counted(std::ssize(common), "problem") + " in common");
}

std::string rank_text(const Report& report) {
  return fmt::format("Models are ranked by {}; equal models share a rank.", report.ranked_by);
}

std::string result_text(const Report& report) {
  const auto metric = leading_metric(report);
  std::set<Interned> models;
  std::vector<std::string> best;
  for (const SummaryRow& row : report.summary) {
    if (!is_overall(row)) continue;
    models.insert(row.model);
    if (row.samples == 0 || row.rank > 1) continue;
    std::string text = fitted(row_name(report, row), kLongestModel) + " has ";
    if (metric && row.estimates[*metric].value) {
      const Estimate& estimate = row.estimates[*metric];
      text += fmt::format("{} {}", report.metrics[*metric].name(),
                          value_text(report.metrics[*metric], estimate));
      if (const std::string interval = interval_text(estimate); !interval.empty())
        text += fmt::format(" (95 %: {})", interval);
      text += " and ";
    }
    best.push_back(text + correct_text(row) + " samples correct");
  }
  if (best.empty()) return "No sample has a verdict yet.";
  const std::size_t left_out = best.size() - std::min(best.size(), kMostBest);
  best.resize(best.size() - left_out);
  return fmt::format(
      "{}{}{}.", report.ranked_by.empty() ? "" : fmt::format("Best of {} models: ", models.size()),
      fmt::join(best, "; "), left_out == 0 ? "" : fmt::format("; and {} more", left_out));
}

std::vector<std::vector<std::string>> models_side_by_side(const Report& report) {
  std::map<std::tuple<Interned, Interned, Interned, Interned>, std::size_t> places;
  std::vector<std::vector<std::string>> rows = {{"problem"}};
  for (const SummaryRow& row : report.summary) {
    if (!is_overall(row)) continue;
    places.emplace(std::tuple(row.model, row.precision, row.device, row.judge), places.size());
    rows[0].push_back(ranked_name(report, row));
  }
  if (places.size() < 2 || places.size() > kMostSideBySide) return {};
  std::map<Interned, std::vector<Cell>, NaturalLess> problems;
  bool several_samples = false;
  for (const std::size_t index : report.judged) {
    const Record& record = report.run.records[index];
    auto& cells = problems[record.problem];
    cells.resize(places.size());
    Cell& cell =
        cells[places.at(std::tuple(record.model, record.precision, record.device, record.judge))];
    if (cell.first == nullptr || record.sample < cell.first->sample) cell.first = &record;
    if (!is_verdict(record)) continue;
    cell.correct += record.outcome == Outcome::kCorrect ? 1 : 0;
    several_samples = ++cell.samples > 1 || several_samples;
  }
  for (const auto& [problem, cells] : problems) {
    auto& row = rows.emplace_back(1, printable(problem.str()));
    for (const Cell& cell : cells) row.push_back(times_text(report, cell, several_samples));
  }
  return rows;
}

}  // namespace kbench::report
