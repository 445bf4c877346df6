// SPDX-License-Identifier: MIT
#include "kbench/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "kbench/error.hpp"
#include "kbench/outcome.hpp"
#include "text.hpp"

namespace kbench {
namespace {

using Pattern = std::string_view;

bool any_of(const std::vector<std::string>& texts, Pattern pattern) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return matches_pattern(pattern, text); });
}

constexpr std::array kFields = {
    Selection::Field{"problem", true,
                     [](const Record*, const RosterEntry* entry, Pattern pattern) {
                       const std::string_view key = entry->problem.str();
                       // As PROBLEM of a command does, "19_ReLU" names "level1/19_ReLU".
                       return matches_pattern(pattern, key) ||
                              matches_pattern(pattern, key.substr(key.rfind('/') + 1));
                     }},
    Selection::Field{"level", true,
                     [](const Record*, const RosterEntry* entry, Pattern pattern) {
                       return matches_pattern(pattern, std::to_string(entry->level));
                     }},
    Selection::Field{"model", true,
                     [](const Record*, const RosterEntry* entry, Pattern pattern) {
                       return matches_pattern(pattern, entry->model.str());
                     }},
    Selection::Field{"sample", true,
                     [](const Record*, const RosterEntry* entry, Pattern pattern) {
                       return matches_pattern(pattern, std::to_string(entry->sample));
                     }},
    Selection::Field{"tag", true,
                     [](const Record*, const RosterEntry* entry, Pattern pattern) {
                       return any_of(entry->tags, pattern);
                     }},
    Selection::Field{"outcome", false,
                     [](const Record* record, const RosterEntry*, Pattern pattern) {
                       return matches_pattern(pattern, to_string(record->outcome));
                     }},
    Selection::Field{"cause", false,
                     [](const Record* record, const RosterEntry*, Pattern pattern) {
                       return matches_pattern(pattern, record->cause.str());
                     }},
    Selection::Field{"class", false,
                     [](const Record* record, const RosterEntry*, Pattern pattern) {
                       return matches_pattern(pattern, record->kernel_class.str());
                     }},
    Selection::Field{"kind", false,
                     [](const Record* record, const RosterEntry*, Pattern pattern) {
                       return matches_pattern(pattern, to_string(record->kind));
                     }},
    Selection::Field{"flag", false,
                     [](const Record* record, const RosterEntry*, Pattern pattern) {
                       return any_of(record->flags, pattern);
                     }},
    Selection::Field{"trust", false,
                     [](const Record* record, const RosterEntry*, Pattern pattern) {
                       return record->timing &&
                              matches_pattern(pattern, record->timing->trust.str());
                     }},
};

const Selection::Field& field_of(std::string_view name) {
  std::vector<std::string> known;
  for (const Selection::Field& field : kFields) {
    if (field.name == name) return field;
    known.emplace_back(field.name);
  }
  throw UsageError(fmt::format("--select: there is no field \"{}\"; there are {}{}", name,
                               fmt::join(known, ", "), did_you_mean(name, known)));
}

void check_outcomes(const std::vector<std::string>& patterns, std::string_view argument) {
  std::vector<std::string> known;
  for (const OutcomeRow& row : outcomes()) known.emplace_back(row.name);
  for (const std::string& pattern : patterns)
    if (std::ranges::none_of(
            known, [&](const std::string& name) { return matches_pattern(pattern, name); }))
      throw UsageError(fmt::format("--select {}: there is no outcome \"{}\"; there are {}{}",
                                   argument, pattern, fmt::join(known, ", "),
                                   did_you_mean(pattern, known)));
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, in = 0, star = std::string_view::npos, resume = 0;
  while (in < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = in;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[in])) {
      ++at;
      ++in;
    } else if (star != std::string_view::npos) {
      // The last star takes one character more.
      at = star + 1;
      in = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

void Selection::add(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos || equals + 1 == argument.size())
    throw UsageError(fmt::format(
        "--select {}: write FIELD=PATTERN, as in level=1 or outcome!=correct", argument));
  Condition condition;
  condition.negated = equals > 0 && argument[equals - 1] == '!';
  condition.field = &field_of(argument.substr(0, equals - (condition.negated ? 1 : 0)));
  condition.text = argument;
  for (std::string_view rest = argument.substr(equals + 1); !rest.empty();) {
    const std::size_t comma = rest.find(',');
    if (const std::string_view pattern = rest.substr(0, comma); !pattern.empty())
      condition.patterns.emplace_back(pattern);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  if (condition.field->name == "outcome") check_outcomes(condition.patterns, argument);
  conditions_.push_back(std::move(condition));
}

bool Selection::lists_some() const {
  return std::ranges::any_of(conditions_,
                             [](const Condition& condition) { return !condition.field->of_plan; });
}

bool Selection::holds(const Condition& condition, const Record* record, const RosterEntry* entry) {
  const bool any = std::ranges::any_of(condition.patterns, [&](const std::string& pattern) {
    return condition.field->matches(record, entry, pattern);
  });
  return any != condition.negated;
}

void Selection::apply(RunFile& run) const {
  std::vector<const Condition*> of_plan;
  for (const Condition& condition : conditions_)
    if (condition.field->of_plan) of_plan.push_back(&condition);
  if (of_plan.empty()) return;
  std::set<std::tuple<Interned, Interned, int>> left_out;
  std::erase_if(run.roster, [&](const RosterEntry& entry) {
    const bool stays = std::ranges::all_of(
        of_plan, [&](const Condition* condition) { return holds(*condition, nullptr, &entry); });
    if (!stays) left_out.emplace(entry.model, entry.problem, entry.sample);
    return !stays;
  });
  std::erase_if(run.records, [&](const Record& record) {
    return left_out.contains({record.model, record.problem, record.sample});
  });
}

bool Selection::lists(const Record& record) const {
  return std::ranges::all_of(conditions_, [&](const Condition& condition) {
    return condition.field->of_plan || holds(condition, &record, nullptr);
  });
}

std::string Selection::text() const {
  std::vector<std::string> texts;
  texts.reserve(conditions_.size());
  for (const Condition& condition : conditions_) texts.push_back(condition.text);
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace kbench
