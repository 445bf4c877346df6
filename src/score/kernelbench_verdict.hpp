// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/record.hpp"
#include "score/kernelbench_results.hpp"

namespace kbench {

/// Keys of `metadata` in which `kbench export` writes what KernelBench has no words for.
inline constexpr const char* kOutcomeKey = "kbench_outcome";
inline constexpr const char* kCauseKey = "kbench_cause";

/// KernelBench's result in kbench's words.
struct ImportedVerdict {
  Outcome outcome = Outcome::kHarnessFault;
  Stage stage = Stage::kCorrectness;
  std::string cause, message;
  std::vector<TrialResult> trials;  ///< what is known of those that failed
  std::vector<std::string> flags;
};

/// What KernelBench's `compiled`, `correctness` and `metadata` mean. Only what it calls compiled
/// and correct is `correct`, whatever else stands there; what it does not call compiled has ended
/// there at the latest. What failed without the candidate's doing (no GPU was attached) is
/// `harness_fault`.
ImportedVerdict imported_verdict(const KernelBenchResult& result);

}  // namespace kbench
