// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kbench/run_log.hpp"

namespace kbench {

/// What of a run is looked at (`--select`): conditions that all have to hold, "level=1,2",
/// "model=alpha*", "outcome!=correct".
///
/// Conditions on the plan (problem, level, model, sample, tag) take everything else off the run, so
/// metrics are over what is left. Those on what came out (outcome, cause, class, kind, flag, trust)
/// choose the candidates that are listed and leave metrics as they are: a run of which only the
/// correct ones counted would have no failures.
class Selection {
 public:
  /// One row per field that can be asked for.
  struct Field {
    std::string_view name;
    bool of_plan;
    bool (*matches)(const Record* record, const RosterEntry* entry, std::string_view pattern);
  };

  /// Adds FIELD=PATTERN[,PATTERN…] or FIELD!=PATTERN…; a pattern may have * and ?. Throws
  /// UsageError for an unknown field, an outcome that does not exist, or no pattern.
  void add(std::string_view argument);

  bool empty() const { return conditions_.empty(); }
  /// Whether there are conditions on what came out.
  bool lists_some() const;
  /// Takes what the conditions on the plan leave out off the roster and the records.
  void apply(RunFile& run) const;
  /// Whether the conditions on what came out hold for the record.
  bool lists(const Record& record) const;
  /// "level=1 outcome!=correct": the conditions as they were given.
  std::string text() const;

 private:
  struct Condition {
    const Field* field = nullptr;
    bool negated = false;
    std::vector<std::string> patterns;
    std::string text;
  };
  static bool holds(const Condition& condition, const Record* record, const RosterEntry* entry);
  std::vector<Condition> conditions_;
};

/// Whether `pattern`, in which * stands for any text and ? for any character, is the whole of
/// `text`.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace kbench
