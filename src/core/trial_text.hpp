// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kbench {

/// A record's line with one of its trials, and what all of them say.
struct CondensedLine {
  std::string text;  ///< the line, of whose trials the one is left that a reader is shown
  /// The largest `allclose_at` of all trials; none where there are no trials.
  std::optional<double> allclose_at;
  bool any_never = false;  ///< some trial has none
};

/// Takes all but one of the trials out of a record's line: the first with a wrong element, else the
/// one with the largest error. Trials are most of a line, and the parser takes longer for them than
/// for the rest; here they are looked at as text. Nothing where the line is not as kbench writes
/// it: then it has to be parsed as a whole.
std::optional<CondensedLine> condense_trials(std::string_view line);

}  // namespace kbench
