// SPDX-License-Identifier: MIT
#include "kernelbench/import_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "problem/files.hpp"

namespace kbench {
namespace {

std::optional<int> number_of(std::string_view id) {
  int number = 0;
  return take_number(id, number) ? std::optional(number) : std::nullopt;
}

}  // namespace

ImportNames::ImportNames(int level, const std::vector<Problem>& problems,
                         const std::vector<BaselineTimes>& timing,
                         const std::vector<KernelBenchResult>& results)
    : level_(level), only_these_(!problems.empty()) {
  for (const Problem& problem : problems)
    if (problem.level == level_) add(problem);
  if (only_these_ && names_.empty()) {
    throw UsageError(fmt::format(
        "--problem: none of them has level {}, the level of the results; --level sets another",
        level_));
  }
  if (only_these_) return;
  for (const BaselineTimes& times : timing) {
    for (const auto& [place, side] : times.times)
      if (place.first == level_) add(place.second);
  }
  for (const KernelBenchResult& result : results)
    if (number_of(id_of_stem(result.name)) == result.problem) add(result.name);
}

void ImportNames::add(const std::string& stem) {
  const auto number = number_of(id_of_stem(stem));
  if (!number || !std::ranges::all_of(stem, [](char c) { return is_name_char(c) || c == '-'; }))
    return;
  names_.try_emplace(*number, ImportName{.number = *number,
                                         .stem = stem,
                                         .key = fmt::format("level{}/{}", level_, stem),
                                         .hash = {},
                                         .tags = {}});
}

void ImportNames::add(const Problem& problem) {
  const auto number = number_of(problem.id);
  if (!number) return;
  const auto [other, is_new] = names_.try_emplace(
      *number, ImportName{.number = *number,
                          .stem = problem.name,
                          .key = problem.key,
                          .hash = problem_hash(problem, sizes_for(problem, "gpu", {})),
                          .tags = problem.tags});
  if (!is_new) {
    throw UsageError(fmt::format("--problem: {} and {} are both problem {}", other->second.key,
                                 problem.key, *number));
  }
}

std::optional<ImportName> ImportNames::name_of(int number) {
  if (const auto found = names_.find(number); found != names_.end()) return found->second;
  if (only_these_) return std::nullopt;
  any_by_number_ = true;
  return ImportName{.number = number,
                    .stem = std::to_string(number),
                    .key = fmt::format("level{}/{}", level_, number),
                    .hash = {},
                    .tags = {}};
}

std::vector<ImportName> ImportNames::named() const {
  std::vector<ImportName> all;
  if (!only_these_) return all;
  for (const auto& [number, name] : names_) all.push_back(name);
  return all;
}

}  // namespace kbench
