// SPDX-License-Identifier: MIT
#include <array>

#include "kbench/record.hpp"

namespace kbench {
namespace {

constexpr std::array kOutcomes = {
    OutcomeRow{Outcome::kCorrect, "correct", "correct", true},
    OutcomeRow{Outcome::kCompileFailure, "compile_failure", "compile failure", true},
    OutcomeRow{Outcome::kLoadFailure, "load_failure", "load failure", true},
    OutcomeRow{Outcome::kUnsupported, "unsupported", "unsupported", true},
    OutcomeRow{Outcome::kRejected, "rejected", "rejected", true},
    OutcomeRow{Outcome::kCrash, "crash", "crash", true},
    OutcomeRow{Outcome::kTimeout, "timeout", "timeout", true},
    OutcomeRow{Outcome::kOutOfMemory, "out_of_memory", "out of memory", true},
    OutcomeRow{Outcome::kIllegalWrite, "illegal_write", "illegal write", true},
    OutcomeRow{Outcome::kWrongShape, "wrong_shape", "wrong shape", true},
    OutcomeRow{Outcome::kWrongDtype, "wrong_dtype", "wrong dtype", true},
    OutcomeRow{Outcome::kMismatch, "mismatch", "mismatch", true},
    OutcomeRow{Outcome::kNondeterministic, "nondeterministic", "nondeterministic", true},
    OutcomeRow{Outcome::kCheat, "cheat", "cheat", true},
    OutcomeRow{Outcome::kMissing, "missing", "missing", true},
    OutcomeRow{Outcome::kProblemFailure, "problem_failure", "problem failure", false},
    OutcomeRow{Outcome::kHarnessFault, "harness_fault", "harness fault", false},
};

constexpr std::array<std::string_view, 6> kStages = {"manifest",    "compile", "load",
                                                     "correctness", "timing",  "done"};

}  // namespace

std::span<const OutcomeRow> outcomes() { return kOutcomes; }

std::string_view to_string(Outcome outcome) {
  return kOutcomes.at(static_cast<std::size_t>(outcome)).name;
}

std::optional<Outcome> outcome_from_name(std::string_view name) {
  for (const OutcomeRow& row : kOutcomes) {
    if (row.name == name) return row.outcome;
  }
  return std::nullopt;
}

std::string_view to_string(Stage stage) { return kStages.at(static_cast<std::size_t>(stage)); }

std::optional<Stage> stage_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kStages.size(); ++i) {
    if (kStages.at(i) == name) return static_cast<Stage>(i);
  }
  return std::nullopt;
}

}  // namespace kbench
