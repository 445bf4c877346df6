// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "kbench/candidate.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// The result of `kbench check` for one file.
struct CheckedFile {
  std::string path;
  /// For a problem file: its key, inputs and outputs, or the reason of its failure.
  struct ProblemFile {
    std::string key, inputs, outputs, failure;
    Record record;  ///< only its sizes
  };
  std::optional<ProblemFile> problem;
  // For all other files:
  Candidate candidate;
  std::string unplaced;  ///< why no problem was found for it; else ""
  CheckedCandidate checked;

  /// True if `kbench eval` would score the file, or take it as a problem.
  bool would_be_scored() const;
};

/// A few lines per file for people, and a last line with counts.
std::string check_text(std::span<const CheckedFile> files);

/// The same for programs: {"files": [{"file", "kind", "would_be_scored", …}], "failed"}.
nlohmann::json check_json(std::span<const CheckedFile> files);

}  // namespace kbench::cli
