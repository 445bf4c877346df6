// SPDX-License-Identifier: MIT
#include "run/prepare/other_sizes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "kbench/error.hpp"

namespace kbench::run {

std::optional<Problem> at_sizes(const Problem& problem, const std::string& name,
                                const std::string& device_class) {
  const auto named = problem.named_sizes.find(name);
  if (named == problem.named_sizes.end()) return std::nullopt;
  Problem other = problem;
  other.named_sizes[device_class] = named->second;
  other.key = fmt::format("{} at {}", problem.key, name);
  return other;
}

void check_size_names(const std::vector<std::string>& names, const std::vector<Problem>& problems) {
  std::set<std::string> known;
  for (const Problem& problem : problems)
    for (const auto& [name, sizes] : problem.named_sizes) known.insert(name);
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    throw UsageError(
        known.empty()
            ? fmt::format("--sizes {}: no problem of this run has sizes in a sizes.json", name)
            : fmt::format("--sizes {}: no problem of this run has these sizes; choose from {}",
                          name, fmt::join(known, ", ")));
  }
}

void add_other_sizes(Record& record, const Record& other, const std::string& name,
                     nlohmann::json other_details, nlohmann::json& details) {
  for (TrialResult trial : other.correctness) {
    trial.sizes = name;
    record.correctness.push_back(std::move(trial));
  }
  for (const std::string& flag : other.flags)
    if (std::ranges::find(record.flags, flag) == record.flags.end()) record.flags.push_back(flag);
  details["other_sizes"][name] = std::move(other_details);
  if (other.outcome == Outcome::kProblemFailure) {
    details["other_sizes"][name]["problem_failure"] = other.message;
    record.flags.emplace_back("sizes_unchecked");
    return;
  }
  if (other.outcome == Outcome::kCorrect || record.outcome != Outcome::kCorrect) return;
  record.outcome = other.outcome;
  record.stage = other.stage;
  record.cause = other.cause;
  record.message = fmt::format("at the sizes \"{}\": {}", name, other.message);
  record.correct_at = other.correct_at;
  record.checked_again = other.checked_again;
  if (!other.findings.empty()) {
    record.findings = other.findings;
    record.findings_count = other.findings_count;
  }
  record.timing.reset();
  record.speedup.clear();
}

}  // namespace kbench::run
