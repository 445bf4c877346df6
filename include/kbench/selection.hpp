// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
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
  /// Gets the texts of a field, of which one has to match.
  using Take = std::function<void(std::string_view)>;
  /// One row per field that can be asked for: of the plan's entries, or of records.
  struct Field {
    std::string_view name;
    void (*of_entry)(const RosterEntry& entry, const Take& take);
    void (*of_record)(const Record& record, const Take& take);
    bool of_plan() const { return of_entry != nullptr; }
  };
  static std::span<const Field> fields();

  /// Adds FIELD=PATTERN[,PATTERN…] or FIELD!=PATTERN…; a pattern may have * and ?. Throws
  /// UsageError for an unknown field, an outcome that does not exist, or no pattern.
  void add(std::string_view argument);

  bool empty() const { return conditions_.empty(); }
  /// Whether there are conditions on what came out.
  bool lists_some() const;
  /// Takes what the conditions on the plan leave out off the roster and the records.
  void apply(RunFile& run) const;
  /// The same; throws UsageError where that leaves nothing of a run, which is called `name`.
  void choose_from(RunFile& run, std::string_view name) const;
  /// "; did you mean alpha?" for the first pattern that nothing of the run matches, and that may
  /// have been meant as something of it.
  std::string likely(const RunFile& run) const;
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
  static bool holds(const Condition& condition, const RosterEntry& entry);
  static bool holds(const Condition& condition, const Record& record);
  std::vector<Condition> conditions_;
};

/// Whether `pattern`, in which * stands for any text and ? for any character, is the whole of
/// `text`.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace kbench
