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

/// Parses "PATH" or "MODEL=PATH"; what exists as a path is one, whatever characters it has. Throws
/// UsageError where either half is empty.
CandidateSource parse_candidate_source(std::string_view argument);

/// What find_candidates found.
struct FoundCandidates {
  std::vector<Candidate> candidates;  ///< sorted by problem, model, sample
  std::size_t of_other_problems = 0;  ///< left out: their problem is not among those asked for
  std::vector<std::string> notes;     ///< what was passed over, a sentence each, for stderr
};

/// Finds candidates for `problems` under `sources` and gives each its problem, model and sample.
/// Its problem: `//@ problem NAME` in a .cu file, else its path: a file of a KernelBench run folder
/// (level_L_problem_P_sample_S_kernel.py), a folder with a problem's name above it ("19_ReLU",
/// "level1_19_ReLU", "level1/19_ReLU"), or its own file stem. Its model: `MODEL=PATH`, else
/// `model_name:` in the generation_config.yaml of the folder above the problem's (a run folder's
/// own), else that folder's name. Its sample: as a run folder's file says, else counted in natural
/// order of paths. Links are followed within a source only. Bytes that are no code make a candidate
/// with reject fields, so that it stays in the denominators. A candidate of a problem that is not
/// among `problems` is left out and counted. Throws UsageError for a candidate that belongs to no
/// problem at all, for one given twice, and for a source without candidates.
FoundCandidates find_candidates(const std::vector<CandidateSource>& sources,
                                const std::vector<Problem>& problems);

/// One candidate for one problem (`--candidate FILE --problem P`). Throws UsageError where there is
/// no such file or it is neither .cu nor .py; what cannot be read or is no code is rejected.
Candidate load_candidate(const std::filesystem::path& path, const Problem& problem,
                         std::string model, int sample);

/// Decides kind from name and content, and fills the reject fields for bytes that are no code: .py
/// is a module; else a `//@` line other than `//@ problem` makes a kernel, none an extension.
void classify(Candidate& candidate, std::string_view file_name);

}  // namespace kbench
