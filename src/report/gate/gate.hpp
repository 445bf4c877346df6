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

/// What has to be reached for exit code 0 (`--fail-under [levelN.]METRIC[@ci]=X`): by every model.
struct Gate {
  Metric metric;
  int level = -1;  ///< of the problems that count; −1: all
  /// The lower end of the metric's interval has to reach it, not the metric itself: what ends in
  /// "@ci". A metric whose own name ends so has it twice, "fast_1@ci@ci".
  bool at_lower_end = false;
  double least = 0;

  std::string name() const;  ///< "level1.geomean@ci"
};
/// Parses that; throws UsageError for an unknown metric or a value that is no number.
Gate parse_gate(std::string_view argument);
/// One sentence for each model and gate that was not met; a metric without a value does not meet
/// it, nor does a run without a roster. Throws UsageError for a gate that needs a GPU's times in a
/// report of the CPU, and for one on a level of which there is no problem.
std::vector<std::string> unmet_gates(const Report& report, const std::vector<Gate>& gates);

/// Expectations: the problem that stands for all that a file does not name.
inline constexpr const char* kAnyProblem = "*";

/// What has to become of problems (`--expect FILE`).
struct Expectations {
  std::string file;  ///< for people
  /// By model (empty: every model) and problem (kAnyProblem: all that are not named): the outcomes
  /// that will do.
  std::map<std::pair<std::string, std::string>, std::vector<Outcome>> outcomes;
};
/// Reads an object of problem → outcome or list of outcomes, or of model → such an object. Throws
/// UsageError naming what it cannot read, and for outcomes that do not exist.
Expectations read_expectations(const std::filesystem::path& file);
/// One sentence for each sample with another outcome, for each problem that the run has no verdict
/// on and its selection did not leave out, and where nothing was held to the file. Problems without
/// an expectation are not looked at.
std::vector<std::string> unmet_expectations(const Report& report, const Expectations& expected);
/// The outcomes of a run as read_expectations() reads them: of each problem, those of its samples.
void write_expectations(const Report& report, std::ostream& out);

/// What `--fail-on` looks for.
struct FailOn {
  bool cheat = false;                ///< a candidate that cheats
  bool new_failure = false;          ///< a sample that was correct in the other run and is not now
  std::optional<double> regression;  ///< one that is slower by more than that share
  bool needs_other() const { return new_failure || regression; }
};
/// Adds one argument: "cheat", "new-failure", "regression" or "regression=SHARE" ("5%", the
/// default, "0.05"). Throws UsageError for anything else.
void parse_fail_on(std::string_view argument, FailOn& fail_on);
/// What a report is to `--fail-on`.
struct FailOnResult {
  /// One for each kind that occurs, with the first few samples by name, and for each that there was
  /// nothing to look at for.
  std::vector<std::string> sentences;
  std::string compared;  ///< how much of it was compared with the older run; empty: with none
};
/// Looks for that. `older` is the run that `--against` names, of which the report's own selection
/// is compared; null where none was given. Throws UsageError where one is needed, and for
/// regressions of a CPU's run.
FailOnResult failed_on(const Report& report, const FailOn& fail_on, const ComparedRun* older);
/// Throws UsageError where it looks for what a CPU's times cannot tell.
void check_on_cpu(const FailOn& fail_on);

}  // namespace kbench
