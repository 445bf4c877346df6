// SPDX-License-Identifier: MIT
#include "cli/options/baseline_candidates.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "kbench/error.hpp"
#include "record/stored_baselines.hpp"
#include "score/kernelbench.hpp"

namespace kbench::cli {
namespace {

FoundCandidates candidates_of(const std::string& baseline, const std::string& path,
                              const std::vector<Problem>& problems) {
  try {
    return find_candidates({{.model = baseline, .path = path}}, problems);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--baseline {}: {}", baseline, error.what()));
  }
}

}  // namespace

std::vector<BaselineCandidate> find_baseline_candidates(const EvalOptions& options,
                                                        const std::vector<Problem>& problems) {
  std::vector<BaselineCandidate> baseline_candidates;
  for (const std::string& baseline : options.baselines) {
    if (!is_baseline_candidate(baseline)) continue;
    if (!is_timed(options))
      throw UsageError(fmt::format(
          "--baseline {} cannot be combined with --timing none, which measures no times",
          baseline));
    if (kernelbench_row(options.precision) != nullptr)
      throw UsageError(fmt::format(
          "--baseline {} cannot be combined with --kb-compat, which times only the reference",
          baseline));
    const std::string path = baseline.substr(kCandidatePrefix.size());
    const FoundCandidates found = candidates_of(baseline, path, problems);
    std::set<std::string> seen;
    for (const Candidate& candidate : found.candidates) {
      if (!seen.insert(candidate.problem).second)
        throw UsageError(fmt::format(
            "--baseline {}: the path has several candidates for {}; name a path that has one",
            baseline, candidate.problem));
      baseline_candidates.push_back({baseline, candidate});
    }
    if (seen.empty())
      throw UsageError(fmt::format(
          "--baseline {}: the path has no candidate for any of the problems", baseline));
  }
  return baseline_candidates;
}

bool judge_baseline_candidates(EvalRun& run, const EvalOptions& options,
                               const std::vector<Problem>& problems,
                               const std::vector<BaselineCandidate>& baseline_candidates) {
  if (baseline_candidates.empty()) return true;
  auto times =
      std::make_shared<StoredBaselines>(options.stored ? *options.stored : StoredBaselines());
  std::vector<Candidate> candidates;
  candidates.reserve(baseline_candidates.size());
  for (const BaselineCandidate& one : baseline_candidates) candidates.push_back(one.candidate);
  const auto sink = [&](const Record& record, const nlohmann::json& /*details*/) {
    times->add_baseline_candidate(record, record.model.str());
  };
  if (!run.run(problems, candidates, sink)) return false;
  run.take_times(std::move(times));
  return true;
}

}  // namespace kbench::cli
