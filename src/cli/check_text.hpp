// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "kbench/candidate.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// What `kbench check` has to say about one file.
struct CheckedFile {
  std::string path;
  /// Of a problem file: its key, inputs and outputs, or the sentence of its failure.
  struct ProblemFile {
    std::string key, inputs, outputs, failure;
  };
  std::optional<ProblemFile> problem;
  // Of all others:
  Candidate candidate;
  std::string unplaced;  ///< why it belongs to no problem; "" where it belongs to one
  CheckedCandidate checked;

  /// Whether `kbench eval` would run it, or run it as a problem.
  bool would_be_scored() const;
};

/// A few lines per file for people, and one that counts.
std::string check_text(std::span<const CheckedFile> files);

/// The same for programs: {"files": [{"file", "kind", "would_be_scored", …}], "failed"}.
nlohmann::json check_json(std::span<const CheckedFile> files);

}  // namespace kbench::cli
