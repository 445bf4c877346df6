// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/record.hpp"
#include "score/kernelbench_results.hpp"

namespace kbench {

/// Keys of `metadata` for kbench's outcome and cause, which `kbench export` writes because
/// KernelBench has none.
inline constexpr const char* kOutcomeKey = "kbench_outcome";
inline constexpr const char* kCauseKey = "kbench_cause";

/// KernelBench's result as kbench's outcome, stage and cause.
struct ImportedVerdict {
  Outcome outcome = Outcome::kHarnessFault;
  Stage stage = Stage::kCorrectness;
  std::string cause, message;
  std::vector<TrialResult> trials;  ///< the trials that failed, as far as known
  std::vector<std::string> flags;
};

/// Translates KernelBench's `compiled`, `correctness` and `metadata`. The outcome is `correct` only
/// if both flags are true, regardless of the metadata. If `compiled` is false, the stage is
/// `compile` or earlier. A failure that is not the candidate's (no GPU was attached) is a
/// `harness_fault`.
ImportedVerdict imported_verdict(const KernelBenchResult& result);

}  // namespace kbench
