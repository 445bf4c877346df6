// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kbench {

/// What became of one candidate: exactly one of these.
enum class Outcome : std::uint8_t {
  kCorrect,
  kCompileFailure,
  kLoadFailure,
  kUnsupported,
  kRejected,
  kCrash,
  kTimeout,
  kOutOfMemory,
  kIllegalWrite,
  kWrongShape,
  kWrongDtype,
  kMismatch,
  kNondeterministic,
  kCheat,
  kMissing,
  kProblemFailure,
  kHarnessFault,
};

/// One row per outcome: its name in records, and whose it is.
struct OutcomeRow {
  Outcome outcome;
  std::string_view name;   ///< "compile_failure"
  std::string_view label;  ///< "compile failure", for people
  bool of_candidate;       ///< counts in the denominators; false: the problem's or kbench's own
};

std::span<const OutcomeRow> outcomes();
std::string_view to_string(Outcome outcome);
std::optional<Outcome> outcome_from_name(std::string_view name);

/// The stage at which a candidate's way ended.
enum class Stage : std::uint8_t { kRoster, kCompile, kLoad, kCorrectness, kTiming, kDone };
std::string_view to_string(Stage stage);
std::optional<Stage> stage_from_name(std::string_view name);

}  // namespace kbench
