// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "kbench/run_file.hpp"
#include "report/format/candidate_report.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

constexpr std::size_t kNamedRecords = 5;

bool is_named(const std::string& pattern, std::string_view problem) {
  return matches_pattern(pattern, problem) ||
         matches_pattern(pattern, problem.substr(problem.rfind('/') + 1));
}

/// Removes "/SAMPLE" from the end of "PROBLEM/SAMPLE"; returns the sample.
std::optional<int> take_sample(std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto sample = to_number<int>(std::string_view(name).substr(slash + 1));
  if (!sample || *sample < 0) return std::nullopt;
  name.resize(slash);
  return sample;
}

/// True if `name` is the candidate's path, an end of it ("19_ReLU/0.cu"), or a longer path to it.
bool is_file_of(const std::string& name, const std::string& candidate) {
  const std::string path = std::filesystem::path(name).lexically_normal().string();
  return path == candidate || candidate.ends_with("/" + path) || path.ends_with("/" + candidate);
}

std::string some_of(const std::set<Interned>& names) {
  std::vector<std::string> shown;
  for (const Interned& name : names) {
    if (shown.size() == kNamedRecords) break;
    shown.push_back(report::printable(name.str()));
  }
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     names.size() > kNamedRecords
                         ? fmt::format(" and {} more", names.size() - kNamedRecords)
                         : "");
}

/// "; did you mean …?" or empty. The level and number of a name may be left out.
std::string likely(const std::string& sought, const std::set<Interned>& problems) {
  std::vector<Spelled> names;
  for (const Interned& problem : problems) {
    const std::string& key = problem.str();
    const std::string last = key.substr(key.rfind('/') + 1);
    names.push_back({key, {key, last, last.substr(last.find('_') + 1)}});
  }
  const std::vector<std::string> nearest = nearest_names(sought, names, 1);
  return nearest.empty() ? ""
                         : fmt::format("; did you mean {}?", report::printable(nearest.front()));
}

}  // namespace

std::vector<std::size_t> named_records(const RunFile& run, const std::string& name,
                                       const Selection& selection) {
  std::string problem = name.empty() ? "*" : name;
  const auto any_problem = [&] {
    return std::ranges::any_of(
        run.records, [&](const Record& record) { return is_named(problem, record.problem.str()); });
  };
  std::optional<int> sample;
  bool any_named = false, any_listed = false;
  if (!any_problem()) sample = take_sample(problem);
  const bool is_problem = any_problem();
  std::set<Interned> problems;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const Record& record = run.records[i];
    problems.insert(record.problem);
    if (is_problem ? !is_named(problem, record.problem.str()) : !is_file_of(name, record.candidate))
      continue;
    any_named = true;
    if (is_problem && sample && record.sample != *sample) continue;
    any_listed = true;
    if (selection.lists(record)) found.push_back(i);
  }
  if (run.records.empty()) throw UsageError("the run has no records yet");
  if (!any_named)
    throw UsageError(
        fmt::format("the run has no record of a problem or candidate \"{}\"; it has "
                    "{}{}",
                    name, some_of(problems), likely(problem, problems)));
  if (found.empty() && any_listed)
    throw UsageError(fmt::format("--select {} lists none of these candidates{}", selection.text(),
                                 selection.likely(run)));
  if (found.empty())
    throw UsageError(fmt::format("the run has no sample {} of \"{}\"", *sample, problem));
  std::ranges::sort(found, [&](std::size_t a, std::size_t b) {
    const Record &x = run.records[a], &y = run.records[b];
    if (x.problem != y.problem) return natural_less(x.problem.str(), y.problem.str());
    if (x.model != y.model) return natural_less(x.model.str(), y.model.str());
    return x.sample < y.sample;
  });
  return found;
}

}  // namespace kbench
