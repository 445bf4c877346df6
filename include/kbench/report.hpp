// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/metrics.hpp"
#include "kbench/run_file.hpp"

namespace kbench {

/// Models that are compared with one another.
inline constexpr std::size_t kMostPaired = 8;

struct ReportOptions {
  std::vector<double> p{0, 0.5, 0.8, 1, 1.5, 2};
  std::vector<int> k{1};
  std::string baseline = {};  ///< empty: the run's first; kBestBaseline
  bool color = false;
  int width = 100;       ///< columns of the terminal
  bool verbose = false;  ///< every metric, every candidate, every failure
  bool quiet = false;    ///< of the console, the summary and how many failed of what
  /// `--include-degenerate`: metrics count problems whose whole check trivial answers pass.
  bool include_degenerate = false;
  Selection select = {};
};

/// One row of the summary: a model over all problems, or over one level. Models that were judged
/// at several precisions, on several devices or by several judges have a row for each.
struct SummaryRow {
  Interned model, precision, device, judge;
  int level = -1;                   ///< −1: overall
  bool without_degenerate = false;  ///< over the problems alone that are not Report::degenerate
  /// Of an overall row among those of its precision, device and judge, by Report::ranked_by: 1 is
  /// the best, equal ones share one. 0: one model alone, a level, or without degenerate problems.
  int rank = 0;
  std::string slice = {};  ///< "tag reduction", "kind extension"; empty: all
  /// Of the roster, less the exclusions; `timed` are the first samples in the geometric mean.
  std::int64_t problems = 0, samples = 0, correct = 0, timed = 0;
  std::vector<Estimate> estimates;  ///< of Report::metrics, in their order
};

/// A model over one of the baselines.
struct BaselineRow {
  Interned model, precision, device, judge;
  std::string baseline;  ///< kBestBaseline: for each candidate the fastest of them
  Estimate fast_1, geomean;
};

/// Two models on the problems that are on the roster of both.
struct ModelPair {
  Interned a, b, precision, device, judge;
  std::int64_t problems = 0;
  std::int64_t only_a = 0, only_b = 0;  ///< first samples that only the one has right
  double p_value = 1;                   ///< of these two counts: McNemar's exact test, two-sided
  /// Geometric mean of b's speedups over a's, on the problems of which both have first samples
  /// right and timed.
  Estimate speed;
  std::int64_t speed_problems = 0;
};

/// A group of failures with one outcome and cause, as one judge found them.
struct FailureGroup {
  Interned judge;
  Outcome outcome = Outcome::kMismatch;
  Interned cause;
  std::vector<std::size_t> records;  ///< indices into RunFile::records
};

/// A problem on which trivial answers pass the check that gave records of it (`kbench audit`).
struct DegenerateProblem {
  Interned problem, problem_hash;
  AuditCheck check;
  std::map<std::string, AuditAnswer> answers;  ///< those that pass
};

/// A problem as it was checked.
struct CheckedProblem {
  Interned problem, problem_hash, precision, device, judge;
  auto operator<=>(const CheckedProblem&) const = default;
};

/// A planned sample without a record, at one precision on one device by one judge.
struct Unjudged {
  std::size_t entry = 0;  ///< index into RunFile::roster
  Interned precision, device, judge;
};

/// A problem whose samples are in no denominator, and why.
struct Exclusion {
  Interned problem;
  /// Not that of its samples where the problem is `degenerate`.
  Outcome outcome = Outcome::kProblemFailure;
  bool degenerate = false;
  Interned cause;
  std::int64_t samples = 0;
  std::string message;  ///< of the first of them
};

/// What was run and on what, for programs; each list has the different values that occur.
struct Setting {
  std::vector<std::string> devices, precisions, timing_methods;
  std::vector<std::string> problem_sets;  ///< hashes of the sets that were asked for
  std::vector<std::string> seeds;         ///< "secret", "public"
  std::vector<std::string> cages;         ///< "complete", "without network", "none"
  std::vector<std::string> versions;      ///< of kbench
  /// How far times are to be believed, with the number of candidates.
  std::map<std::string, std::int64_t> trust;
  std::int64_t problems = 0, models = 0;
};

/// The one model that every format writes, so that no two formats can disagree.
struct Report {
  RunFile run;
  ReportOptions options;
  bool on_cpu = false;                     ///< leads with correctness; no fast_p for p > 0
  std::int64_t planned = 0, finished = 0;  ///< roster entries, and those with a verdict
  bool complete = false;                   ///< each has one
  std::string baseline;                    ///< that the speedups are over; empty: none was timed
  std::vector<std::string> baselines;      ///< that were asked for
  /// What the reader has to know first: harness faults, lines that could not be read, ….
  std::vector<std::string> warnings;
  Setting setting;
  /// The same for people, as (label, text): device, problems, precision, baseline, ….
  std::vector<std::pair<std::string, std::string>> facts;
  std::set<std::pair<Interned, Interned>> left_out;  ///< (model, problem) that were not selected
  /// Records of the roster, by model, problem and sample.
  std::vector<std::size_t> judged;
  std::vector<std::size_t> candidates;  ///< those of them that are selected to be listed
  /// Records: problem failures, and of problems that are `unearned`.
  std::vector<std::size_t> exclusions;
  std::vector<Exclusion> excluded;  ///< the same by problem
  std::vector<Unjudged> unjudged;   ///< planned samples without a record
  std::vector<Metric> metrics;      ///< the columns of the summary
  std::vector<SummaryRow> summary;  ///< per model, the best first: overall, then by level
  std::string ranked_by;            ///< the metric of their ranks; empty: there are none
  /// Per model, tag and kind of candidate, where several occur: the headline metrics alone.
  std::vector<SummaryRow> slices;
  std::vector<Metric> slice_metrics;   ///< of `slices`
  std::vector<BaselineRow> over;       ///< where there are several baselines
  std::vector<ModelPair> pairs;        ///< of the first kMostPaired models
  std::vector<FailureGroup> failures;  ///< most frequent first
  /// Degenerate problems by their own records, and the trivial answers that pass their whole check.
  std::map<CheckedProblem, std::vector<std::string>> unearned;
  bool audited = false;  ///< audits were given, and the summary has rows without …
  std::vector<DegenerateProblem> degenerate;  ///< … those of them that are degenerate
};

/// Builds the model; audits count for the records of their own check, problem and sizes, and
/// warnings name those that match none. Throws UsageError where no audit does, where CPU and GPU
/// records would share a table, where the selection leaves nothing, and for a baseline that was not
/// run, a negative p, or a k below 1.
Report build_report(RunFile run, ReportOptions options,
                    const std::optional<AuditFile>& audits = std::nullopt);

/// One way to write a report. To add one: the function, and a row in report_formats().
struct ReportFormat {
  std::string_view name, extension;
  void (*write)(const Report&, std::ostream&);
  /// Set in place of `write` by a format of several files.
  void (*write_folder)(const Report&, const std::filesystem::path&) = nullptr;
  /// Throws UsageError if `write_folder` cannot write to that folder.
  void (*check_folder)(const std::filesystem::path&) = nullptr;
};
std::span<const ReportFormat> report_formats();
/// The format of that name; throws UsageError naming the ones there are.
const ReportFormat& report_format(std::string_view name);

/// Where a report is to go.
struct ReportTarget {
  const ReportFormat* format = nullptr;
  std::filesystem::path file;  ///< or folder; empty: standard output
};
/// Parses "FORMAT", "FORMAT=FILE" or "FORMAT=FOLDER"; throws UsageError for an unknown format.
ReportTarget report_target(std::string_view argument);
/// Writes the report to each target, the ones without a file to `out`; on a console report where
/// there is no target. A file is replaced as a whole and has no colour. Throws kbench::Error where
/// one cannot be written.
void write_reports(const Report& report, std::span<const ReportTarget> targets, std::ostream& out);

}  // namespace kbench
