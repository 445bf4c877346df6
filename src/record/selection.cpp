// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "kbench/record.hpp"
#include "kbench/run_file.hpp"

namespace kbench {
namespace {

using Take = Selection::Take;

constexpr std::array kFields = {
    Selection::Field{"problem",
                     [](const ManifestEntry& entry, const Take& take) {
                       const std::string_view key = entry.problem.str();
                       take(key);
                       // As in a command's PROBLEM, "19_ReLU" names "level1/19_ReLU".
                       take(key.substr(key.rfind('/') + 1));
                     },
                     nullptr},
    Selection::Field{
        "level",
        [](const ManifestEntry& entry, const Take& take) { take(std::to_string(entry.level)); },
        nullptr},
    Selection::Field{"model",
                     [](const ManifestEntry& entry, const Take& take) { take(entry.model.str()); },
                     nullptr},
    Selection::Field{
        "sample",
        [](const ManifestEntry& entry, const Take& take) { take(std::to_string(entry.sample)); },
        nullptr},
    Selection::Field{"tag",
                     [](const ManifestEntry& entry, const Take& take) {
                       for (const std::string& tag : entry.tags) take(tag);
                     },
                     nullptr},
    Selection::Field{
        "outcome", nullptr,
        [](const Record& record, const Take& take) { take(to_string(record.outcome)); }},
    Selection::Field{"cause", nullptr,
                     [](const Record& record, const Take& take) { take(record.cause.str()); }},
    Selection::Field{
        "class", nullptr,
        [](const Record& record, const Take& take) { take(record.kernel_class.str()); }},
    Selection::Field{"kind", nullptr,
                     [](const Record& record, const Take& take) { take(to_string(record.kind)); }},
    Selection::Field{"flag", nullptr,
                     [](const Record& record, const Take& take) {
                       for (const std::string& flag : record.flags) take(flag);
                     }},
    Selection::Field{"trust", nullptr,
                     [](const Record& record, const Take& take) {
                       if (record.timing) take(record.timing->trust.str());
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

bool matches_any(const std::vector<std::string>& patterns, std::string_view text) {
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return matches_pattern(pattern, text); });
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
      // On a mismatch, the last star matches one more character.
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
  return std::ranges::any_of(
      conditions_, [](const Condition& condition) { return !condition.field->of_plan(); });
}

bool Selection::holds(const Condition& condition, const ManifestEntry& entry) {
  bool any = false;
  condition.field->of_entry(
      entry, [&](std::string_view text) { any = any || matches_any(condition.patterns, text); });
  return any != condition.negated;
}

bool Selection::holds(const Condition& condition, const Record& record) {
  bool any = false;
  condition.field->of_record(
      record, [&](std::string_view text) { any = any || matches_any(condition.patterns, text); });
  return any != condition.negated;
}

std::span<const Selection::Field> Selection::fields() { return kFields; }

void Selection::apply(RunFile& run) const {
  std::vector<const Condition*> of_plan;
  for (const Condition& condition : conditions_)
    if (condition.field->of_plan()) of_plan.push_back(&condition);
  if (of_plan.empty()) return;
  std::set<std::tuple<Interned, Interned, int>> left_out;
  std::erase_if(run.manifest, [&](const ManifestEntry& entry) {
    const bool stays = std::ranges::all_of(
        of_plan, [&](const Condition* condition) { return holds(*condition, entry); });
    if (!stays) left_out.emplace(entry.model, entry.problem, entry.sample);
    return !stays;
  });
  std::erase_if(run.records, [&](const Record& record) {
    return left_out.contains({record.model, record.problem, record.sample});
  });
}

void Selection::choose_from(RunFile& run, std::string_view name) const {
  if (conditions_.empty() || run.manifest.empty()) return apply(run);
  std::vector<ManifestEntry> manifest = run.manifest;
  apply(run);
  if (!run.manifest.empty()) return;
  run.manifest = std::move(manifest);
  throw UsageError(fmt::format("--select {} matches nothing in {}{}", text(), name, likely(run)));
}

std::string Selection::likely(const RunFile& run) const {
  for (const Condition& condition : conditions_) {
    // Outcomes were checked before, so one that does not occur is not a typing error.
    if (condition.field->name == "outcome") continue;
    std::set<std::string, std::less<>> known;
    const Take take = [&](std::string_view text) {
      if (!known.contains(text)) known.emplace(text);
    };
    if (condition.field->of_plan()) {
      for (const ManifestEntry& entry : run.manifest) condition.field->of_entry(entry, take);
    } else {
      for (const Record& record : run.records) condition.field->of_record(record, take);
    }
    for (const std::string& pattern : condition.patterns) {
      const bool any = std::ranges::any_of(
          known, [&](const std::string& text) { return matches_pattern(pattern, text); });
      if (any) continue;
      std::string meant = did_you_mean(pattern, {known.begin(), known.end()});
      if (!meant.empty()) return meant;
    }
  }
  return {};
}

bool Selection::lists(const Record& record) const {
  return std::ranges::all_of(conditions_, [&](const Condition& condition) {
    return condition.field->of_plan() || holds(condition, record);
  });
}

std::string Selection::text() const {
  std::vector<std::string> texts;
  texts.reserve(conditions_.size());
  for (const Condition& condition : conditions_) texts.push_back(condition.text);
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace kbench
