// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kbench {

/// What a flag is about.
enum class FlagSubject : std::uint8_t { kCandidate, kProblem, kMachine, kRun };
/// "candidate", "problem", "machine" or "run".
std::string_view to_string(FlagSubject subject);

/// A flag of records.
struct FlagRow {
  std::string_view name;
  FlagSubject subject = FlagSubject::kCandidate;
  std::string_view meaning;     ///< one sentence without a full stop
  std::string_view what_to_do;  ///< the same; empty: nothing
  bool is_unclean = false;      ///< `--require clean` rejects candidates with it
};

/// All flags. RUN_FILE.md explains each.
std::span<const FlagRow> flags();
/// Null for an unknown name.
const FlagRow* find_flag(std::string_view name);

}  // namespace kbench
