// SPDX-License-Identifier: MIT
#include "report/model/narrowed.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

namespace kbench::report {
namespace {

constexpr const char* kNarrowed = "narrowed";
constexpr const char* kUnchanged = "unchanged";

/// The `run` lines that count. In one file, the last is that of the newest `--resume`, before which
/// candidates may have been moved.
std::span<const RunHeader> headers_of(const RunFile& run) {
  const std::span<const RunHeader> all = run.headers;
  return run.files.size() == 1 && !all.empty() ? all.last(1) : all;
}

/// None in files of older versions.
std::optional<bool> narrowed(const RunHeader& header) {
  const auto found = header.options.find(kNarrowed);
  if (found == header.options.end() || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

}  // namespace

std::set<std::string> unchanged_candidates(const RunFile& run) {
  std::set<std::string> candidates;
  for (const RunHeader& header : run.headers) {
    const auto found = header.options.find(kUnchanged);
    if (found == header.options.end() || !found->is_array()) continue;
    for (const nlohmann::json& candidate : *found)
      if (candidate.is_string()) candidates.insert(candidate.get<std::string>());
  }
  for (const Record& record : run.records) candidates.erase(record.candidate);
  return candidates;
}

bool is_narrowed(const RunFile& run) {
  const auto headers = headers_of(run);
  return !headers.empty() && std::ranges::all_of(headers, [](const RunHeader& header) {
    return narrowed(header).value_or(false);
  });
}

LeftOut unplaced_candidates(const RunFile& run) {
  for (const RunHeader& header : headers_of(run)) {
    const bool takes_all = narrowed(header) == false && !header.options.contains(kUnchanged);
    if (takes_all && header.left_out.count > 0) return header.left_out;
  }
  return {};
}

}  // namespace kbench::report
