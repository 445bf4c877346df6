// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "compared_text.hpp"
#include "kbench/error.hpp"
#include "kbench/gate.hpp"
#include "standings.hpp"
#include "tables.hpp"
#include "text.hpp"

namespace kbench {
namespace {

constexpr std::size_t kNamed = 3;
constexpr std::string_view kLevel = "level";
constexpr std::string_view kLowerEnd = "@ci";

/// Takes "level1." from the start of `name`; −1 where it is not there.
int take_level(std::string_view& name) {
  if (!name.starts_with(kLevel)) return -1;
  int level = -1;
  const std::string_view rest = name.substr(kLevel.size());
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), level);
  if (error != std::errc() || end == rest.data() + rest.size() || *end != '.' || level < 0)
    return -1;
  name = rest.substr(static_cast<std::size_t>(end - rest.data()) + 1);
  return level;
}

/// The metric of that name; without its "@ci" where only then there is one.
Metric metric_of(std::string_view name, bool& at_lower_end) {
  at_lower_end = false;
  if (!name.ends_with(kLowerEnd)) return metric_from_name(name);
  try {
    return metric_from_name(name);
  } catch (const UsageError&) {
    at_lower_end = true;
    return metric_from_name(name.substr(0, name.size() - kLowerEnd.size()));
  }
}

std::string model_name(const SummaryRow& row) {
  return report::printable(row.model.str()) +
         (row.judge.empty() || row.judge == kOwnJudge
              ? ""
              : " as judged by " + report::printable(row.judge.str()));
}

/// The sentence of a gate that the row does not meet; empty where it does.
std::string unmet(const SummaryRow& row, const Estimate& estimate, const Gate& gate) {
  const std::optional<double>& value = gate.at_lower_end ? estimate.lo : estimate.value;
  if (value && *value >= gate.least) return "";
  return fmt::format(
      "{}: {} is {}, below {}", model_name(row), gate.name(),
      value ? fmt::format("{:.4g}", *value) : fmt::format("undefined ({})", estimate.why_none),
      gate.least);
}

/// The standings of that level's problems; all of them for −1.
report::StandingGroup of_level(const RunFile& run, report::StandingGroup group, int level) {
  if (level >= 0)
    std::erase_if(group.standings, [&](const report::Standing& standing) {
      return run.roster[standing.entry].level != level;
    });
  return group;
}

/// "a, b, c and 5 more".
std::string named(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kNamed);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string sample_name(const ComparedSample& sample) {
  return report::printable(
      fmt::format("{} {} {}", sample.problem, sample.other_model, sample.sample));
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
  gate.metric = metric_of(name, gate.at_lower_end);
  const std::string_view number =
      equals == std::string_view::npos ? std::string_view() : argument.substr(equals + 1);
  const char* end = number.data() + number.size();
  const auto parsed = std::from_chars(number.data(), end, gate.least);
  if (number.empty() || parsed.ec != std::errc() || parsed.ptr != end ||
      !std::isfinite(gate.least)) {
    throw UsageError(
        fmt::format("\"{}\" is no gate: write METRIC=NUMBER, as in fast_1=0.5", argument));
  }
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
    if (gate.level >= 0 && std::ranges::find(report.run.roster, gate.level, &RosterEntry::level) ==
                               report.run.roster.end())
      throw UsageError(
          fmt::format("{}: the run has no problem of level {}", gate.name(), gate.level));
    metrics.push_back(gate.metric);
  }
  std::vector<std::string> sentences;
  const std::vector<report::StandingGroup> groups = report::standing_groups(report.run);
  for (std::size_t i = 0; i < gates.size(); ++i) {
    for (const report::StandingGroup& group : groups) {
      const report::StandingGroup chosen = of_level(report.run, group, gates[i].level);
      for (const SummaryRow& row :
           report::summary_rows(report, chosen, std::span(metrics).subspan(i, 1))) {
        if (row.level >= 0) continue;
        if (std::string text = unmet(row, row.estimates.front(), gates[i]); !text.empty())
          sentences.push_back(std::move(text));
      }
    }
  }
  return sentences;
}

void parse_fail_on(std::string_view argument, FailOn& fail_on) {
  if (argument == "cheat") {
    fail_on.cheat = true;
  } else if (argument == "new-failure") {
    fail_on.new_failure = true;
  } else if (argument.starts_with("regression")) {
    fail_on.regression = parse_regression_gate(argument);
  } else {
    throw UsageError(fmt::format(
        "there is no gate --fail-on {}; there are cheat, new-failure and regression[=SHARE]",
        argument));
  }
}

std::vector<std::string> failed_on(const Report& report, const FailOn& fail_on,
                                   const ComparedRun* older) {
  std::vector<std::string> sentences;
  if (fail_on.cheat) {
    std::vector<std::string> cheats;
    // Whatever is listed: a gate that a selection opens is none.
    for (const std::size_t index : report.judged) {
      const Record& record = report.run.records[index];
      if (record.outcome == Outcome::kCheat) cheats.push_back(report::candidate_name(record));
    }
    if (!cheats.empty())
      sentences.push_back(
          fmt::format("{}: {}",
                      report::counted(static_cast<std::int64_t>(cheats.size()), "candidate") +
                          (cheats.size() == 1 ? " cheats" : " cheat"),
                      named(cheats)));
  }
  if (!fail_on.needs_other()) return sentences;
  if (older == nullptr)
    throw UsageError(
        "--fail-on new-failure and --fail-on regression need --against OLD.jsonl, the run to "
        "compare with");
  ComparisonOptions options;
  if (fail_on.regression) options.regression = *fail_on.regression;
  std::vector<ComparedRun> runs(2);
  runs[0] = *older;
  runs[1] = {.name = "this run", .run = report.run};
  const Comparison comparison = build_comparison(std::move(runs), options);
  std::vector<std::string> broken, slower;
  for (const ComparedSample& sample : comparison.comparisons.front().samples) {
    if (sample.change == Change::kBroken) {
      broken.push_back(sample_name(sample));
    } else if (sample.regression) {
      slower.push_back(sample_name(sample));
    }
  }
  const auto add = [&](const std::vector<std::string>& names, std::string_view what) {
    if (!names.empty())
      sentences.push_back(
          fmt::format("{} {}, against {}: {}",
                      report::counted(static_cast<std::int64_t>(names.size()), "sample"), what,
                      older->name, named(names)));
  };
  // What is no longer right is a regression as well, whichever of the two was asked for.
  add(broken, "no longer correct");
  add(report::unjudged_names({comparison, comparison.comparisons.front()}),
      "without a verdict now, correct before");
  if (fail_on.regression)
    add(slower, fmt::format("slower by more than {:g} %", options.regression * 100));
  return sentences;
}

}  // namespace kbench
