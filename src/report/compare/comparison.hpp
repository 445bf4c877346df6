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

/// What became of a sample from one run to the other.
enum class Change : std::uint8_t {
  kFaster,         ///< both correct, the interval of the ratio wholly above 1
  kSlower,         ///< both correct, it is wholly below 1
  kSame,           ///< both correct, it holds 1 and is within a ratio of kSameRatio
  kAmbiguous,      ///< both correct, and none of these
  kBothCorrect,    ///< both correct, and nothing there that may be compared as speed
  kFixed,          ///< was not correct, is
  kBroken,         ///< was correct, is not
  kBothWrong,      ///< neither is correct
  kNotComparable,  ///< not the same task, or no verdict on the candidate in one of them
};
inline constexpr std::size_t kChanges = 9;

/// One row per change: its name in files, and for people.
struct ChangeRow {
  Change change;
  std::string_view name;   ///< "both_correct"
  std::string_view label;  ///< "both correct"
};
std::span<const ChangeRow> changes();

/// An interval that holds 1 and is within a ratio of this is `same`.
inline constexpr double kSameRatio = 1.02;
/// What decides whether a sample is faster.
enum class Basis : std::uint8_t {
  kNone,     ///< nothing does: ComparedSample::reason
  kTimes,    ///< the candidates' times: both are of the same device
  kSpeedup,  ///< the speedups over ComparedSample::baselines[0]: the devices differ
};

/// Speedups over a baseline that both runs have of a sample. `ratio` is other over base, so above 1
/// the other run gained on the baseline.
struct ComparedBaseline {
  Interned baseline;
  Measured base, other, ratio;
};

/// A sample that both runs have.
struct ComparedSample {
  Interned problem;
  int level = 0;
  Interned base_model, other_model;  ///< differ only where one model was matched with another
  int sample = 0;
  std::size_t base_record = 0, other_record = 0;  ///< into RunFile::records of the two
  Change change = Change::kNotComparable;
  Basis basis = Basis::kNone;
  /// Broken, or on the same device slower by more than ComparisonOptions::regression: on another
  /// one it may be the device.
  bool regression = false;
  std::string reason;  ///< one clause: why not comparable, or why nothing decides on speed
  std::optional<Measured> base_ms, other_ms;  ///< the candidate's times in milliseconds of a call
  /// Base time over other time, so above 1 the other run is faster; none on a CPU, and where the
  /// two were timed in different ways.
  std::optional<Measured> time_ratio;
  std::vector<ComparedBaseline> baselines;  ///< in the order of the base run's record
  /// What ComparisonOptions::select asks of what came out holds for one of the two records.
  bool listed = true;

  /// The ratio that `basis` names; null where there is none.
  const Measured* decisive() const;
};

/// A sample that only one of the two runs has a record of.
struct UnmatchedSample {
  bool in_base = true;   ///< else in the other run
  bool planned = false;  ///< the run without a record has it on its roster: no verdict yet
  Interned problem;
  Interned model;  ///< as its run calls it
  int sample = 0;
  std::size_t record = 0;  ///< into RunFile::records of its run
  bool listed = true;      ///< as ComparedSample::listed
};

/// Geometric mean of the ratios of `count` samples that both runs have right.
struct RatioMean {
  std::optional<double> value;  ///< none where count is 0
  std::int64_t count = 0;
};

/// One run, compared with the first.
struct RunComparison {
  std::size_t other = 1;  ///< into Comparison::runs
  /// What the reader has to know of the two before any number, one sentence each.
  std::vector<std::string> notes;
  std::vector<ComparedSample> samples;          ///< by problem, model and sample
  std::vector<UnmatchedSample> unmatched;       ///< in no order of runs
  std::array<std::int64_t, kChanges> counts{};  ///< of samples, by Change
  std::int64_t regressions = 0;
  RatioMean mean;  ///< of the decisive ratios
  /// Geometric means of the shares of each device's own limit (Record::sol), over the samples of
  /// which both runs have one: how well different devices are used.
  RatioMean base_limit, other_limit;
  std::vector<Interned> baselines;        ///< shared in at least one sample
  std::vector<RatioMean> baseline_means;  ///< of the ratios of speedups, for each of `baselines`

  std::int64_t count(Change change) const { return counts[static_cast<std::size_t>(change)]; }
  std::int64_t only_in(bool base) const;
};

/// A run to be compared.
struct ComparedRun {
  std::string name;  ///< its file, for people
  RunFile run;
  std::string label = {};  ///< "A", "B", …: build_comparison() gives them
};

struct ComparisonOptions {
  double regression = 0.05;  ///< share by which a time has to grow to be a regression
  /// Conditions on the plan choose what is compared, those on what came out what is listed.
  Selection select = {};
  bool color = false;
  int width = 100;       ///< columns of the terminal
  bool verbose = false;  ///< every sample
};

/// The one model that every format writes, so that no two formats can disagree.
struct Comparison {
  ComparisonOptions options;
  std::vector<ComparedRun> runs;           ///< the first is the base
  std::vector<std::string> facts;          ///< of each run: devices, versions, how much, when
  std::vector<std::string> warnings;       ///< what is missing in the files
  std::vector<RunComparison> comparisons;  ///< of each run but the first, in their order
};

/// Joins each run with the first: samples of the same problem, model and number, or of the only
/// model of each where the two have one and its names differ. Of several verdicts of one run on a
/// sample (at one precision, on one device, by one judge) the last counts.
///
/// Times are those of measured_time(), their ratios those of ratio_between_runs(), and so are
/// ratios of speedups, of the records' own intervals.
///
/// Throws UsageError for fewer than two runs, and for one of which the selection leaves nothing.
Comparison build_comparison(std::vector<ComparedRun> runs, ComparisonOptions options);

/// One way to write a comparison. To add one: the function, and a row in comparison_formats().
struct ComparisonFormat {
  std::string_view name, extension;
  void (*write)(const Comparison&, std::ostream&);
};
std::span<const ComparisonFormat> comparison_formats();

/// Where a comparison is to go.
struct ComparisonTarget {
  const ComparisonFormat* format = nullptr;
  std::filesystem::path file;  ///< empty: standard output
};
/// Parses "FORMAT" or "FORMAT=FILE"; throws UsageError for an unknown format.
ComparisonTarget comparison_target(std::string_view argument);
/// Writes as write_reports() does: those without a file to `out`, on a console where there is none.
void write_comparison(const Comparison& comparison, std::span<const ComparisonTarget> targets,
                      std::ostream& out);

/// Parses "regression", "regression=5%" or "regression=0.05" to the share (`--fail-on`); throws
/// UsageError for another gate, and for what is no share from 0 to below 1.
double parse_regression_gate(std::string_view argument);
/// One sentence for each run that has regressions, for each that lacks a verdict on samples that
/// the base has right, and for each of which nothing could be compared.
std::vector<std::string> regressions(const Comparison& comparison);

}  // namespace kbench
