// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/report.hpp"
#include "report/compare/comparison.hpp"

namespace kbench {

/// A value that every model must reach for exit code 0 (`--fail-under [levelN.]METRIC[@ci]=X`).
struct Gate {
  Metric metric;
  int level = -1;  ///< only this level's problems count; −1: all
  /// True if the name ends in "@ci": the lower end of the metric's interval must reach `least`, not
  /// only the value. A metric whose own name ends in "@ci" needs it twice: "fast_1@ci@ci".
  bool at_lower_end = false;
  double least = 0;

  std::string name() const;  ///< "level1.geomean@ci"
};
/// Parses such an argument. Throws UsageError for an unknown metric or a value that is not a
/// number.
Gate parse_gate(std::string_view argument);
/// One sentence for each gate that a model does not meet. A metric without a value fails its gate,
/// and an empty manifest fails every gate. Throws UsageError for a gate that needs a GPU's times in
/// a report of the CPU, and for a level without problems.
std::vector<std::string> unmet_gates(const Report& report, const std::vector<Gate>& gates);

/// The key of an expectation for all candidates that the file does not name.
inline constexpr const char* kAnyFile = "*";

/// The outcomes that candidates must have (`--expect FILE`).
struct Expectations {
  std::string file;  ///< for messages
  /// Candidate's file → accepted outcomes. A key is a path as in Record::candidate, the end of such
  /// a path ("19_ReLU/0.cu"), or kAnyFile. Of several keys that fit, the longest counts.
  std::map<std::string, std::vector<Outcome>> outcomes;
};
/// Reads {candidate's file: outcome or list of outcomes}. Throws UsageError that names the text
/// that it cannot read or the unknown outcome.
Expectations read_expectations(const std::filesystem::path& file);
/// Fills Report::expected.
void expect(Report& report, const Expectations& expected);
/// True if the record is not correct, and Report::expected accepts its outcome.
bool is_expected_failure(const Report& report, std::size_t record);
/// The outcomes that Report::expected wants in place of the record's: "mismatch or crash". Empty if
/// it accepts the record's outcome or does not name it.
std::string expected_instead(const Report& report, std::size_t record);
/// One sentence for each candidate with another outcome, and for each file with a key that has no
/// verdict, unless `--select`, `--changed-since` or a narrowed run leaves it out. One sentence for
/// all candidates that no key fits, and one if nothing has an expectation.
std::vector<std::string> unmet_expectations(const Report& report, const Expectations& expected);
/// Writes a run's outcomes for read_expectations(); files that come later must be correct.
void write_expectations(const Report& report, std::ostream& out);

/// What `--fail-on` checks.
struct FailOn {
  bool cheat = false;                ///< a candidate that cheats
  bool new_failure = false;          ///< a sample that was correct in the older run and is not here
  std::optional<double> regression;  ///< a sample that is slower by more than this fraction
  bool needs_other() const { return new_failure || regression; }
};
/// Adds one argument: "cheat", "new-failure", "regression" or "regression=FRACTION" ("5%", the
/// default, "0.05"). Throws UsageError for anything else.
void parse_fail_on(std::string_view argument, FailOn& fail_on);
/// What `--fail-on` found in a report.
struct FailOnResult {
  /// A sentence for each kind of failure found, with the names of its first samples, and for each
  /// kind that could not be checked. Empty: the gate passes.
  std::vector<std::string> sentences;
  std::string compared;  ///< how many samples were compared with the older run; empty: none
};
/// Checks a report. `older`: the run that `--against` names, or null; the report's selection also
/// applies to it. Throws UsageError if `older` is null but needed, and for `regression` on a run of
/// the CPU.
FailOnResult failed_on(const Report& report, const FailOn& fail_on, const ComparedRun* older);
/// Throws UsageError if `fail_on` needs the times of a GPU.
void check_on_cpu(const FailOn& fail_on);

}  // namespace kbench
