// SPDX-License-Identifier: MIT
#include "report/model/exclusions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "base/text.hpp"
#include "report/model/scored_samples.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

// Limits, because hundreds of problems may fail, each with a page of reasons.
constexpr std::size_t kNamedProblems = 10;
constexpr std::size_t kNamedCauses = 6;
constexpr std::size_t kLongestName = 80;
constexpr std::size_t kLongestMessage = 240;

constexpr std::string_view kDegenerate = "degenerate problem";

/// Exclusions of one cause.
using Group = std::vector<const Exclusion*>;

std::vector<Group> by_cause(const std::vector<Exclusion>& excluded) {
  std::map<std::tuple<bool, Outcome, Interned>, std::size_t> places;
  std::vector<Group> groups;
  for (const Exclusion& exclusion : excluded) {
    const auto [place, is_new] = places.try_emplace(
        {exclusion.degenerate, exclusion.outcome, exclusion.cause}, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(&exclusion);
  }
  std::ranges::stable_sort(groups, std::greater(), &Group::size);
  return groups;
}

std::string group_text(const Group& group, std::size_t most_names) {
  std::vector<std::string> names;
  std::int64_t samples = 0;
  bool is_alike = true;
  for (const Exclusion* exclusion : group) {
    if (names.size() < most_names)
      names.push_back(fitted(printable(exclusion->problem.str()), kLongestName));
    samples += exclusion->samples;
    is_alike = is_alike && exclusion->message == group.front()->message;
  }
  const Exclusion& first = *group.front();
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (names.size() < group.size()) text += fmt::format(" and {} more", group.size() - names.size());
  text += " (" + (first.degenerate ? std::string(kDegenerate)
                                   : printable(outcome_text(first.outcome, first.cause)));
  text += ", " + counted(samples, "sample");
  if (!first.message.empty())
    text += (is_alike ? ": " : "; the first: ") + fitted(printable(first.message), kLongestMessage);
  return text + ")";
}

}  // namespace

std::string degenerate_message(const std::vector<std::string>& names) {
  return fmt::format("{} {} its whole check", fmt::join(names, ", "),
                     names.size() == 1 ? "passes" : "pass");
}

std::vector<Exclusion> exclusions_by_problem(const Report& report) {
  std::map<std::tuple<Interned, bool, Outcome, Interned>, std::size_t> places;
  std::vector<Exclusion> excluded;
  for (const std::size_t index : report.exclusions) {
    const Record& record = report.run.records[index];
    Exclusion exclusion;
    exclusion.problem = record.problem;
    exclusion.degenerate = !is_exclusion(record);
    if (exclusion.degenerate) {
      exclusion.message = degenerate_message(*passing_answers(report, record));
    } else {
      exclusion.outcome = record.outcome;
      exclusion.cause = record.cause;
      exclusion.message = record.message;
    }
    const auto [place, is_new] = places.try_emplace(
        {exclusion.problem, exclusion.degenerate, exclusion.outcome, exclusion.cause},
        excluded.size());
    if (is_new) excluded.push_back(std::move(exclusion));
    ++excluded[place->second].samples;
  }
  return excluded;
}

std::string degenerate_included_text(const Report& report) {
  if (!report.options.include_degenerate) return {};
  std::map<Interned, std::string> messages;  // problem → message
  for (const auto& [checked, names] : report.unearned)
    messages.emplace(checked.problem, degenerate_message(names));
  std::vector<std::string> texts;
  for (const auto& [problem, message] : messages)
    texts.push_back(
        fmt::format("{} ({})", fitted(printable(problem.str()), kLongestName), message));
  std::ranges::sort(texts, natural_less);
  const std::size_t all = texts.size();
  if (!report.options.verbose) texts.resize(std::min(all, kNamedProblems));
  std::string text = fmt::format("{}", fmt::join(texts, ", "));
  if (texts.size() < all) text += fmt::format(" and {} more", all - texts.size());
  return text.empty() ? text : text + "; counted by --include-degenerate";
}

std::string exclusions_text(const Report& report) {
  const std::vector<Group> groups = by_cause(report.excluded);
  if (groups.empty()) return "nothing";
  const bool all = report.options.verbose;
  const std::size_t shown = all ? groups.size() : std::min(groups.size(), kNamedCauses);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < shown; ++i)
    texts.push_back(group_text(groups[i], all ? groups[i].size() : kNamedProblems));
  std::size_t left_out = 0;
  for (std::size_t i = shown; i < groups.size(); ++i) left_out += groups[i].size();
  if (left_out > 0)
    texts.push_back(
        fmt::format("{} more by {}", left_out, counted(groups.size() - shown, "other cause")));
  std::string text = fmt::format("{}", fmt::join(texts, ", "));
  if (std::ranges::any_of(report.excluded, &Exclusion::degenerate))
    text += "; --include-degenerate counts degenerate problems";
  return text;
}

}  // namespace kbench::report
