// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "report/gate/gate.hpp"
#include "report/model/scored_samples.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

constexpr std::string_view kLevel = "level";
constexpr std::string_view kLowerEnd = "@ci";

/// Removes "level1." from the start of `name`; returns the level, or −1 if there is none.
int take_level(std::string_view& name) {
  if (!name.starts_with(kLevel)) return -1;
  int level = -1;
  std::string_view rest = name.substr(kLevel.size());
  if (!take_number(rest, level) || !rest.starts_with('.') || level < 0) return -1;
  name = rest.substr(1);
  return level;
}

std::string model_name(const SummaryRow& row) {
  return report::printable(row.model.str()) +
         (row.judge.empty() || row.judge == kOwnJudge
              ? ""
              : " as judged by " + report::printable(row.judge.str()));
}

/// A sum of fractions may be off by this much.
constexpr double kRounding = 1e-9;

/// The sentence that the row does not meet the gate; empty if it does.
std::string unmet(const SummaryRow& row, const Estimate& estimate, const Gate& gate) {
  const std::optional<double>& value = gate.at_lower_end ? estimate.lo : estimate.value;
  if (value && *value >= gate.least - kRounding) return "";
  const std::string open =
      row.no_verdict == 1 ? " (1 sample has no verdict and counts as wrong)"
      : row.no_verdict > 1
          ? fmt::format(" ({} samples have no verdict and count as wrong)", row.no_verdict)
          : "";
  return fmt::format(
      "{}: {} is {}, below {}{}", model_name(row), gate.name(),
      value ? fmt::format("{:.4g}", *value) : fmt::format("undefined ({})", estimate.why_none),
      gate.least, open);
}

/// The scored samples of that level's problems; for −1, of all.
report::ScoredSampleGroup of_level(const RunFile& run, report::ScoredSampleGroup group, int level) {
  if (level >= 0)
    std::erase_if(group.scored_samples, [&](const report::ScoredSample& scored_sample) {
      return run.manifest[scored_sample.entry].level != level;
    });
  return group;
}

}  // namespace

std::string Gate::name() const {
  return (level < 0 ? "" : fmt::format("{}{}.", kLevel, level)) + metric.name() +
         std::string(at_lower_end ? kLowerEnd : "");
}

Gate parse_gate(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  std::string_view name = argument.substr(0, equals);
  Gate gate;
  gate.level = take_level(name);
  gate.at_lower_end = name.ends_with(kLowerEnd);
  if (gate.at_lower_end) name.remove_suffix(kLowerEnd.size());
  gate.metric = metric_from_name(name);
  const std::string_view number =
      equals == std::string_view::npos ? std::string_view() : argument.substr(equals + 1);
  const auto least = to_number<double>(number);
  if (!least || !std::isfinite(*least)) {
    throw UsageError(
        fmt::format("\"{}\" is not a gate: write METRIC=NUMBER, as in fast_1=0.5", argument));
  }
  gate.least = *least;
  if (!gate.metric.row->ratio && gate.least > 1)
    throw UsageError(fmt::format("\"{}\" cannot be met: {} is a fraction, at most 1", argument,
                                 gate.metric.name()));
  return gate;
}

std::vector<std::string> unmet_gates(const Report& report, const std::vector<Gate>& gates) {
  std::vector<Metric> metrics;
  for (const Gate& gate : gates) {
    if (report.on_cpu && gate.metric.needs_speedup()) {
      throw UsageError(
          fmt::format("{} needs the times of a GPU, and these records are the CPU's: "
                      "gate on correct, fast_0 or pass@1",
                      gate.name()));
    }
    if (gate.level >= 0 && std::ranges::find(report.run.manifest, gate.level,
                                             &ManifestEntry::level) == report.run.manifest.end())
      throw UsageError(
          fmt::format("{}: the run has no problem of level {}", gate.name(), gate.level));
    metrics.push_back(gate.metric);
  }
  std::vector<std::string> sentences;
  const std::vector<report::ScoredSampleGroup> groups = report::scored_sample_groups(report.run);
  for (std::size_t i = 0; i < gates.size(); ++i) {
    if (report.run.manifest.empty())
      sentences.push_back(fmt::format(
          "{}: there is nothing to check: the run's manifest has no candidate", gates[i].name()));
    for (const report::ScoredSampleGroup& group : groups) {
      const report::ScoredSampleGroup chosen = of_level(report.run, group, gates[i].level);
      for (const SummaryRow& row :
           report::summary_rows(report, chosen, std::span(metrics).subspan(i, 1), nullptr,
                                report::NoVerdict::kWrong)) {
        if (row.level >= 0) continue;
        if (std::string text = unmet(row, row.estimates.front(), gates[i]); !text.empty())
          sentences.push_back(std::move(text));
      }
    }
  }
  return sentences;
}

}  // namespace kbench
