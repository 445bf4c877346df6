// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/problem.hpp"

namespace kbench {

/// The three forms of a candidate; see the README for how each runs.
enum class CandidateKind : std::uint8_t { kKernel, kExtension, kModule };

std::string_view to_string(CandidateKind kind);
std::optional<CandidateKind> candidate_kind_from_name(std::string_view name);

/// Code that claims to compute a problem's reference, with where it comes from.
struct Candidate {
  std::string id;       ///< caller's id (`--candidates -`), else the path as shown to people
  std::string model;    ///< who wrote it
  std::string problem;  ///< Problem::key
  int sample = 0;       ///< n-th candidate of that model for that problem, from 0
  CandidateKind kind = CandidateKind::kKernel;
  std::filesystem::path path;  ///< empty when it came by standard input
  std::string source;
  /// Set where the file cannot be judged as code at all: outcome `rejected` (or `missing`), the
  /// cause slug ("not_utf8", "empty", "oversized", "unreadable", "no_code") and one sentence.
  std::string reject_cause, reject_message;
};

/// Files above this are `rejected` as oversized, unread.
inline constexpr std::size_t kMaxCandidateBytes = 4u << 20;

/// Where candidates are looked for: a file or folder, and the model they are attributed to.
struct CandidateSource {
  std::optional<std::string> model;  ///< from "MODEL=PATH"
  std::filesystem::path path;
};

/// Parses "PATH" or "MODEL=PATH".
CandidateSource parse_candidate_source(std::string_view argument);

/// Finds candidates for `problems` under `sources` and gives each its problem, model and sample:
/// KernelBench run folders (level_L_problem_P_sample_S_kernel.py), <problem>/<anything>.{cu,py} in
/// natural order, <model>/<problem>/…, `//@ problem NAME` in the file. A candidate of a problem
/// that is not among `problems` is left out and counted; one that belongs to no problem at all is a
/// UsageError, as are duplicates of (model, problem, sample).
struct FoundCandidates {
  std::vector<Candidate> candidates;  ///< sorted by problem, model, sample
  std::size_t of_other_problems = 0;
};
FoundCandidates find_candidates(const std::vector<CandidateSource>& sources,
                                const std::vector<Problem>& problems);

/// One candidate for one problem (`--candidate FILE --problem P`).
Candidate load_candidate(const std::filesystem::path& path, const Problem& problem,
                         std::string model, int sample);

/// Decides kind from name and content, and fills the reject fields for bytes that are no code.
void classify(Candidate& candidate, std::string_view file_name);

}  // namespace kbench
