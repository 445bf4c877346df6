// SPDX-License-Identifier: MIT
#include "score/kernelbench_results.hpp"

#include <fmt/format.h>

#include <map>

#include "base/python_json.hpp"
#include "base/text.hpp"
#include "kbench/error.hpp"
#include "score/kernelbench_timing.hpp"

namespace kbench {
namespace {

using nlohmann::json;

/// A number of at least 0, written as a JSON number or as text.
std::optional<int> id_from(const json& value) {
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (std::in_range<int>(number) && number >= 0) return static_cast<int>(number);
    return std::nullopt;
  }
  const auto* text = value.get_ptr<const std::string*>();
  const auto number = text == nullptr ? std::nullopt : to_number<int>(*text);
  return number && *number >= 0 ? number : std::nullopt;
}

/// The statistics in field `stats`, with the mean from field `time`, which KernelBench uses for
/// speedups.
std::optional<SideTiming> side_of(const json& entry, const char* time, const char* stats) {
  const auto found = entry.find(stats);
  json all = found != entry.end() && found->is_object() ? *found : json::object();
  const auto value = entry.find(time);
  all["mean"] = value == entry.end() ? json() : *value;
  return side_timing(all);
}

bool is_sample(const json& value) {
  return value.is_object() && (value.contains("compiled") || value.contains("correctness"));
}

/// Reads a boolean field into `flag`; false if it is missing.
bool read_flag(const json& entry, const char* field, bool& flag) {
  const auto found = entry.find(field);
  if (found == entry.end() || !found->is_boolean()) return false;
  flag = found->get<bool>();
  return true;
}

/// The result of an entry. Its sample is `place`, unless the entry has a "sample_id".
KernelBenchResult result_from(const json& entry, int problem, int place) {
  KernelBenchResult result;
  result.problem = problem;
  result.sample = place;
  if (!entry.is_object()) {
    result.fault = "it is not a JSON object";
    return result;
  }
  if (const auto id = entry.find("sample_id"); id != entry.end()) {
    const auto sample = id_from(*id);
    if (!sample) result.fault = "its \"sample_id\" is not a number from 0";
    result.sample = sample.value_or(place);
  }
  for (const auto& [field, flag] :
       {std::pair("compiled", &result.compiled), std::pair("correctness", &result.correct)}) {
    if (!read_flag(entry, field, *flag))
      result.fault = fmt::format("its \"{}\" is not true or false", field);
  }
  result.name = text_field(entry, "problem_name");
  if (const auto metadata = entry.find("metadata");
      metadata != entry.end() && metadata->is_object()) {
    result.metadata = *metadata;
  }
  result.time = side_of(entry, "runtime", "runtime_stats");
  result.reference = side_of(entry, "ref_runtime", "ref_runtime_stats");
  return result;
}

/// The samples of one problem, in any of the three forms.
std::vector<KernelBenchResult> results_of(const json& value, int problem) {
  if (is_sample(value)) return {result_from(value, problem, 0)};
  std::vector<KernelBenchResult> results;
  int place = 0;
  if (value.is_array()) {
    for (const json& entry : value) results.push_back(result_from(entry, problem, place++));
    return results;
  }
  bool by_id = value.is_object();
  if (by_id) {
    for (const auto& [key, entry] : value.items()) {
      const auto id = id_from(key);
      by_id = by_id && id.has_value();
      results.push_back(result_from(entry, problem, id.value_or(0)));
    }
  }
  if (by_id) return results;
  KernelBenchResult faulty;
  faulty.problem = problem;
  faulty.fault = "it is neither a sample nor a list of samples";
  return {faulty};
}

}  // namespace

KernelBenchResults parse_kernelbench_results(std::string_view text) {
  const json content = parse_python_json(text);
  if (!content.is_object()) throw Error("is not a JSON object of results by problem number");
  KernelBenchResults all;
  std::map<std::pair<int, int>, KernelBenchResult> by_place;
  for (const auto& [key, value] : content.items()) {
    const auto problem = id_from(key);
    if (!problem) {
      all.notes.push_back(fmt::format("skipped \"{}\": it is not a problem's number", key));
      continue;
    }
    for (KernelBenchResult& result : results_of(value, *problem)) {
      if (!result.fault.empty()) {
        all.notes.push_back(fmt::format("skipped the result of problem {}, sample {}: {}", *problem,
                                        result.sample, result.fault));
      }
      const std::pair place(*problem, result.sample);
      const auto [earlier, is_new] = by_place.try_emplace(place, result);
      if (is_new || !result.fault.empty()) continue;
      all.notes.push_back(
          fmt::format("problem {} has several results for sample {}: the last counts", *problem,
                      result.sample));
      earlier->second = std::move(result);
    }
  }
  if (by_place.empty() && !content.empty())
    throw Error("has no results: none of its keys is a problem's number");
  for (auto& [place, result] : by_place) all.results.push_back(std::move(result));
  return all;
}

}  // namespace kbench
