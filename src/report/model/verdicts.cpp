// SPDX-License-Identifier: MIT
#include "report/model/verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/text/text.hpp"

namespace kbench::report {
namespace {

std::string verdict_text(const Record& record) {
  return printable(fmt::format("{} {}", record.judge, outcome_text(record.outcome, record.cause)));
}

}  // namespace

std::vector<Verdicts> shared_verdicts(const Report& report) {
  const auto& records = report.run.records;
  // Shortcut for the common case: a report of one judge.
  const auto as_first = [&](std::size_t index) {
    return records[index].judge == records[report.candidates.front()].judge;
  };
  if (std::ranges::all_of(report.candidates, as_first)) return {};
  std::map<std::tuple<Interned, Interned, int, Interned, Interned>, Verdicts> by_candidate;
  for (const std::size_t index : report.candidates) {
    const Record& record = records[index];
    if (record.outcome == Outcome::kHarnessFault) continue;
    by_candidate[{record.model, record.problem, record.sample, record.precision, record.device}]
        .records.push_back(index);
  }
  std::vector<Verdicts> shared;
  for (auto& entry : by_candidate) {
    auto& verdicts = entry.second;
    if (verdicts.records.size() < 2) continue;
    std::ranges::stable_partition(
        verdicts.records, [&](std::size_t index) { return records[index].judge == kOwnJudge; });
    verdicts.differ = std::ranges::any_of(verdicts.records, [&](std::size_t index) {
      return (records[index].outcome == Outcome::kCorrect) !=
             (records[verdicts.records.front()].outcome == Outcome::kCorrect);
    });
    shared.push_back(std::move(verdicts));
  }
  return shared;
}

std::string verdicts_text(const Report& report, const Verdicts& verdicts) {
  std::string text;
  for (const std::size_t index : verdicts.records)
    text += (text.empty() ? "" : "; ") + verdict_text(report.run.records[index]);
  return text;
}

std::string failures_text(const Report& report) {
  struct Count {
    std::size_t failed = 0, finished = 0;
  };
  // false sorts first, so kbench's own judge comes first.
  std::map<std::pair<bool, Interned>, Count> counts;
  const auto of = [&](const Interned& judge) -> Count& {
    return counts[{judge != kOwnJudge, judge}];
  };
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    of(record.judge).finished += record.outcome != Outcome::kHarnessFault ? 1 : 0;
  }
  for (const FailureGroup& group : report.failures) of(group.judge).failed += group.records.size();
  std::string text;
  for (const auto& [judge, count] : counts)
    text += fmt::format("{}{}{} of {}", text.empty() ? "" : ", ",
                        counts.size() > 1 ? printable(judge.second.str()) + " " : "", count.failed,
                        count.finished);
  return text;
}

std::string judge_suffix(const Interned& judge) {
  return judge == kOwnJudge ? "" : " (judged by " + printable(judge.str()) + ")";
}

}  // namespace kbench::report
