// SPDX-License-Identifier: MIT
#include "run/schedule/failure_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/json/view.hpp"
#include "record/from_view.hpp"
#include "run/eval_options.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;

/// What a finding of each kind says of its kernel. The first in a record is the likeliest cause.
struct KindRow {
  std::string_view kind, words;
};
constexpr std::array<KindRow, 4> kKinds{
    {{"shared_race", "threads race for shared memory"},
     {"global_race", "threads race for global memory"},
     {"barrier_divergence", "threads of a warp reach different barriers"},
     {"uninitialized_read", "a thread reads uninitialized memory"}}};

std::size_t rank_of(const Finding& finding) {
  const auto row = std::ranges::find(kKinds, finding.kind.str(), &KindRow::kind);
  return static_cast<std::size_t>(row - kKinds.begin());
}

std::vector<Finding> findings_from(const json& array) {
  std::vector<Finding> findings;
  for (const json& item : array) findings.push_back(finding_from(JsonReader(item).root()));
  return findings;
}

}  // namespace

void put_likeliest_first(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, {}, [](const Finding& finding) {
    return is_fault(finding) ? 0 : 1 + rank_of(finding);
  });
}

std::string finding_words(const Finding& finding) {
  const std::size_t rank = rank_of(finding);
  if (rank == kKinds.size()) return {};
  const std::string place =
      finding.line > 0 ? fmt::format(" ({}:{})", finding.file.str(), finding.line) : std::string();
  return fmt::format("; in {} {}{}", finding.kernel.str(), kKinds[rank].words, place);
}

bool may_have_findings(const Record& record, const EvalOptions& options) {
  const bool may_race = record.outcome == Outcome::kMismatch ||
                        record.outcome == Outcome::kNondeterministic ||
                        record.outcome == Outcome::kCrash;
  // While a candidate loads, no kernel of a call runs.
  return may_race && record.stage != Stage::kLoad && options.sanitize != kAllChecks &&
         !by_kernelbench(options);
}

void take_findings(JudgeAnswer answer, Record& record, json& details) {
  std::vector<Finding> findings = findings_from(details.value("findings", json::array()));
  for (const Finding& found : findings_from(answer.findings)) {
    const bool is_known = std::ranges::any_of(
        findings, [&](const Finding& finding) { return same_place(finding, found); });
    // A fault of this call is not the cause of the outcome.
    if (!is_fault(found) && !is_known) findings.push_back(found);
  }
  put_likeliest_first(findings);
  if (findings.size() > kMaxFindings) findings.resize(kMaxFindings);
  for (const std::string_view flag : answer.record.flags)
    if (std::ranges::find(kKinds, flag, &KindRow::kind) != kKinds.end() &&
        std::ranges::find(record.flags, flag) == record.flags.end())
      record.flags.emplace_back(flag);
  const auto first = std::ranges::find_if_not(findings, is_fault);
  const bool ended = answer.record.outcome == Outcome::kHarnessFault;  // no failure was noted
  record.checked_again = !findings.empty() ? "found" : ended ? "nothing_found" : "unfinished";
  if (first != findings.end()) record.message += finding_words(*first);
  json lines = json::array();
  for (const Finding& finding : findings) lines.push_back(to_json(finding));
  if (!findings.empty()) details["findings"] = std::move(lines);
  record.findings_count = findings.size();
  record.findings = std::move(findings);
}

}  // namespace kbench::run
