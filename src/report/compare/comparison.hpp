// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/run_file.hpp"
#include "record/measured.hpp"

namespace kbench {

/// How a sample changed from one run to the other.
enum class Change : std::uint8_t {
  kFaster,         ///< both correct; the whole interval of the ratio is above 1
  kSlower,         ///< both correct; the whole interval is below 1
  kSame,           ///< both correct; the interval contains 1 and is within kSameRatio
  kAmbiguous,      ///< both correct; none of the three above
  kBothCorrect,    ///< both correct; their speed cannot be compared
  kFixed,          ///< correct only in the other run
  kBroken,         ///< correct only in the base
  kBothWrong,      ///< neither is correct
  kNotComparable,  ///< different tasks, or no verdict on the candidate in one run
};
inline constexpr std::size_t kChanges = 9;

/// One row per change: its name in files, and its label for people.
struct ChangeRow {
  Change change;
  std::string_view name;   ///< "both_correct"
  std::string_view label;  ///< "both correct"
};
std::span<const ChangeRow> changes();

/// An interval that contains 1 and lies from 1 / kSameRatio to kSameRatio is `same`.
inline constexpr double kSameRatio = 1.02;
/// What decides if a sample is faster.
enum class Basis : std::uint8_t {
  kNone,     ///< nothing decides; ComparedSample::reason says why
  kTimes,    ///< the candidates' times, because the device is the same
  kSpeedup,  ///< the speedups over ComparedSample::baselines[0], because the devices differ
};

/// A sample's speedups over a baseline that both runs have. `ratio`: the other run's speedup
/// divided by the base's.
struct ComparedBaseline {
  Interned baseline;
  Measured base, other, ratio;
};

/// A sample that both runs have.
struct ComparedSample {
  Interned problem;
  int level = 0;
  Interned base_model, other_model;  ///< differ only if the only model of each run was matched
  int sample = 0, other_sample = 0;  ///< the numbers; they differ if a file got another one
  std::size_t base_record = 0, other_record = 0;  ///< indices into each run's RunFile::records
  Change change = Change::kNotComparable;
  Basis basis = Basis::kNone;
  /// Broken, or slower by more than ComparisonOptions::regression on the same device. A slower
  /// sample on another device is not a regression, because the device may be the cause.
  bool regression = false;
  std::string reason;  ///< one clause: why not comparable, or why nothing decides on speed
  std::optional<Measured> base_ms, other_ms;  ///< the candidate's times per call in milliseconds
  /// Base time divided by other time: above 1 the other run is faster. None on a CPU, and if the
  /// two were timed in different ways.
  std::optional<Measured> time_ratio;
  std::vector<ComparedBaseline> baselines;  ///< in the order of the base run's record
  /// True if ComparisonOptions::select lists at least one of the two records.
  bool listed = true;

  /// The ratio that `basis` names; null if there is none.
  const Measured* decisive() const;
};

/// A sample that has a record in only one of the two runs.
struct UnmatchedSample {
  bool in_base = true;  ///< the record is in the base; else in the other run
  /// The run without a record plans a sample of this problem and model that has no verdict yet.
  bool planned = false;
  bool unchanged = false;  ///< the run without a record left it out by `--changed-since`
  Interned problem;
  Interned model;  ///< its name in the run with the record
  int sample = 0;
  std::size_t record = 0;  ///< index into RunFile::records of the run with the record
  bool listed = true;      ///< as ComparedSample::listed
};

/// Geometric mean of `count` values.
struct RatioMean {
  std::optional<double> value;  ///< none if count is 0
  std::int64_t count = 0;
};

/// One run, compared with the first.
struct RunComparison {
  std::size_t other = 1;  ///< index into Comparison::runs
  /// Warnings that a reader needs before the numbers, one sentence each.
  std::vector<std::string> notes;
  std::vector<ComparedSample> samples;          ///< by problem, model and sample
  std::vector<UnmatchedSample> unmatched;       ///< of both runs
  std::array<std::int64_t, kChanges> counts{};  ///< of samples, by Change
  std::int64_t regressions = 0;
  RatioMean mean;  ///< of the decisive ratios
  /// Geometric means of the fraction of its device's limit that each sample reached (Record::sol),
  /// over samples with a fraction in both runs. They compare how well different devices are used.
  RatioMean base_limit, other_limit;
  std::vector<Interned> baselines;        ///< baselines that both runs have for at least one sample
  std::vector<RatioMean> baseline_means;  ///< mean ratio of speedups over each of `baselines`

  std::int64_t count(Change change) const { return counts[static_cast<std::size_t>(change)]; }
  std::int64_t only_in(bool base) const;
};

/// A run of the comparison.
struct ComparedRun {
  std::string name;  ///< the name of its file, for people
  RunFile run;
  std::string label = {};  ///< "A", "B", …; set by build_comparison()
};

struct ComparisonOptions {
  double regression = 0.05;  ///< a time that grows by more than this fraction is a regression
  /// Conditions on the plan choose what is compared; conditions on results choose what is listed.
  Selection select = {};
  bool color = false;
  int width = 100;       ///< columns of the terminal
  bool verbose = false;  ///< list every sample
};

/// The content of a comparison. Every format writes this, so no two formats can disagree.
struct Comparison {
  ComparisonOptions options;
  std::vector<ComparedRun> runs;           ///< the first is the base
  std::vector<std::string> run_summary;    ///< run_summary() of each run
  std::vector<std::string> warnings;       ///< run_warnings() of each run
  std::vector<RunComparison> comparisons;  ///< of each run except the first, in their order
};

/// Joins each run with the first by problem, model and candidate's file, as pair_samples() says. If
/// each run has only one model, the two are matched even if their names differ. If a run has
/// several verdicts on a sample (same precision, device and judge), the last is used.
///
/// Times come from measured_time(). Ratios of times and of speedups come from ratio_between_runs();
/// a speedup's interval is the record's own.
///
/// Throws UsageError for fewer than two runs, and if the selection leaves nothing of a run.
Comparison build_comparison(std::vector<ComparedRun> runs, ComparisonOptions options);

/// One way to write a comparison. To add one: the function, and a row in comparison_formats().
struct ComparisonFormat {
  std::string_view name, extension;
  void (*write)(const Comparison&, std::ostream&);
};
std::span<const ComparisonFormat> comparison_formats();

/// A file for a comparison: a format and a path.
struct ComparisonFile {
  const ComparisonFormat* format = nullptr;
  std::filesystem::path file;  ///< empty: standard output
};
/// Parses "FORMAT" or "FORMAT=FILE"; throws UsageError for an unknown format.
ComparisonFile comparison_file(std::string_view argument);
/// Writes the comparison to each target, as write_reports() does.
void write_comparison(const Comparison& comparison, std::span<const ComparisonFile> report_files,
                      std::ostream& out);

/// Parses the fraction of "regression", "regression=5%" or "regression=0.05" (`--fail-on`). Throws
/// UsageError for other texts, and for a value outside [0, 1).
double parse_regression_gate(std::string_view argument);
/// One sentence for each run with regressions, without verdicts on samples that are correct in the
/// base, or without any comparable sample.
std::vector<std::string> regressions(const Comparison& comparison);

}  // namespace kbench
