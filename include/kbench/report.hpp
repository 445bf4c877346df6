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

/// A report compares at most this many models in pairs.
inline constexpr std::size_t kMostPaired = 8;

struct ReportOptions {
  std::vector<double> p{0, 0.5, 0.8, 1, 1.5, 2};
  std::vector<int> k{1};
  std::string baseline = {};  ///< a baseline's name or kBestBaseline; empty: the run's first
  bool color = false;
  int width = 100;       ///< columns of the terminal
  bool verbose = false;  ///< every metric, every candidate, every failure
  bool quiet = false;    ///< console: only the summary and the number of failures by cause
  /// `--include-degenerate`: metrics also count problems for which a trivial answer passes.
  bool include_degenerate = false;
  Selection select = {};
  /// The format `github` writes paths of candidates from this folder on; empty: as in the records.
  std::filesystem::path github_workspace = {};
  bool latex_levels = false;     ///< the format `latex` also has a row per level
  bool latex_intervals = false;  ///< and the metrics' intervals
};

/// One row of the summary: a model over all problems, or over one level. A model has a row for each
/// precision, device and judge.
struct SummaryRow {
  Interned model, precision, device, judge;
  int level = -1;                   ///< −1: overall
  bool without_degenerate = false;  ///< without the problems in Report::degenerate
  /// Rank by Report::ranked_by among the overall rows of one precision, device and judge. 1 is the
  /// best; equal values share a rank. 0: no rank, because there is only one model, the metric has
  /// no value, the row is of one level, or `without_degenerate` is set.
  int rank = 0;
  std::string slice = {};  ///< "tag reduction", "kind extension"; empty: all
  /// Counts over the samples with a verdict, without the exclusions; `timed`: first samples in the
  /// geometric mean.
  std::int64_t problems = 0, samples = 0, correct = 0, timed = 0;
  std::int64_t no_verdict = 0;  ///< planned samples without a verdict: no count and metric has them
  std::vector<Estimate> estimates;  ///< one for each of Report::metrics, in their order
};

/// A model's scores over one of the baselines.
struct BaselineRow {
  Interned model, precision, device, judge;
  std::string baseline;  ///< kBestBaseline: each candidate's fastest baseline
  Estimate fast_1, geomean;
};

/// Two models on the problems that the manifest has for both.
struct ModelPair {
  Interned a, b, precision, device, judge;
  std::int64_t problems = 0;
  std::int64_t only_a = 0, only_b = 0;  ///< problems where only that model's first sample is right
  double p_value = 1;                   ///< of only_a and only_b: McNemar's exact test, two-sided
  /// Geometric mean of b's speedup divided by a's, on the problems where both first samples are
  /// right and timed.
  Estimate speed;
  std::int64_t speed_problems = 0;
};

/// Failures with the same judge, outcome and cause.
struct FailureGroup {
  Interned judge;
  Outcome outcome = Outcome::kMismatch;
  Interned cause;
  std::vector<std::size_t> records;  ///< indices into RunFile::records
};

/// A problem for which trivial answers pass the check, as `kbench audit` found.
struct DegenerateProblem {
  Interned problem, problem_hash;
  AuditCheck check;
  std::map<std::string, AuditAnswer> answers;  ///< the trivial answers that pass, by name
};

/// A problem, and the judge and sizes of the records that checked it.
struct CheckedProblem {
  Interned problem, problem_hash, precision, device, judge;
  auto operator<=>(const CheckedProblem&) const = default;
};

/// A planned sample that has no record for this precision, device and judge.
struct Unjudged {
  std::size_t entry = 0;  ///< index into RunFile::manifest
  Interned precision, device, judge;
};

/// A problem that metrics leave out, and the reason.
struct Exclusion {
  Interned problem;
  /// Unused if the problem is `degenerate`.
  Outcome outcome = Outcome::kProblemFailure;
  bool degenerate = false;
  Interned cause;
  std::int64_t samples = 0;
  std::string message;  ///< of the first sample
};

/// The run settings in machine-readable form; each list has the distinct values that occur.
struct RunSettings {
  std::vector<std::string> devices, precisions, timing_methods;
  std::vector<std::string> problem_sets;  ///< hashes of the requested problem sets
  std::vector<std::string> seeds;         ///< "secret", "public"
  std::vector<std::string> sandboxes;     ///< "complete", "without network", "none"
  std::vector<std::string> versions;      ///< of kbench
  /// How far the times can be trusted, and the number of candidates with that trust.
  std::map<std::string, std::int64_t> trust;
  std::int64_t problems = 0, models = 0;
};

/// The content of a report. Every format writes this, so no two formats can disagree.
struct Report {
  RunFile run;
  ReportOptions options;
  bool on_cpu = false;                     ///< a run on the CPU: no fast_p for p > 0
  std::int64_t planned = 0, finished = 0;  ///< samples of the manifest; those with a verdict
  bool complete = false;                   ///< every planned sample has a verdict
  std::string baseline;                    ///< the baseline of the speedups; empty: none was timed
  std::vector<std::string> baselines;      ///< requested, or in the records
  /// What the reader must know first: harness faults, lines that could not be read, ….
  std::vector<std::string> warnings;
  RunSettings run_settings;
  /// The run summary for people, as (label, text): device, problems, precision, baseline, ….
  std::vector<std::pair<std::string, std::string>> run_summary;
  /// Candidates (Record::candidate) that the selection or `--changed-since` left out.
  std::set<std::string> left_out;
  /// Indices into RunFile::records of the manifest's samples, by model, problem and sample.
  std::vector<std::size_t> judged;
  std::vector<std::size_t> candidates;  ///< those of `judged` that the selection lists
  /// Those of `judged` that metrics leave out: problem failures and `unearned` problems.
  std::vector<std::size_t> exclusions;
  std::vector<Exclusion> excluded;  ///< `exclusions` by problem
  std::vector<Unjudged> unjudged;   ///< planned samples without a record
  /// `--expect`: index into RunFile::records → accepted outcomes, for the records that it names.
  std::map<std::size_t, std::vector<Outcome>> expected;
  /// Under a gate: the sentence about candidates that belong to no problem of the run; empty: none.
  std::string unplaced;
  std::vector<Metric> metrics;      ///< the columns of the summary
  std::vector<SummaryRow> summary;  ///< per model, the best first: overall, then by level
  std::string ranked_by;            ///< the metric of the ranks; empty: no ranks
  /// Rows by tag and by kind of candidate, if several tags or kinds occur.
  std::vector<SummaryRow> slices;
  std::vector<Metric> slice_metrics;   ///< the columns of `slices`: the headline metrics
  std::vector<BaselineRow> over;       ///< empty if fewer than two baselines were measured
  std::vector<ModelPair> pairs;        ///< of the first kMostPaired models
  std::vector<FailureGroup> failures;  ///< most frequent first
  /// Problems that are degenerate according to their records, and the trivial answers that pass.
  std::map<CheckedProblem, std::vector<std::string>> unearned;
  bool audited = false;  ///< audits were given; the summary also has rows without `degenerate`
  std::vector<DegenerateProblem> degenerate;  ///< by the audits
};

/// Builds the report. An audit applies to the records with its check, problem and sizes; the run
/// summary names the audits that match no record. Throws UsageError if no audit matches, if the run
/// has both CPU and GPU records, or if the selection removes everything. Also throws it for a
/// baseline that was not run, a negative p, or a k below 1.
Report build_report(RunFile run, ReportOptions options,
                    const std::optional<AuditFile>& audits = std::nullopt);

/// One way to write a report. To add one: the function, and a row in report_formats().
struct ReportFormat {
  std::string_view name, extension;
  void (*write)(const Report&, std::ostream&);
  /// Set instead of `write` if the format is a folder of several files.
  void (*write_folder)(const Report&, const std::filesystem::path&) = nullptr;
  /// Throws UsageError if `write_folder` cannot write to that folder.
  void (*check_folder)(const std::filesystem::path&) = nullptr;
};
std::span<const ReportFormat> report_formats();
/// The format of that name; if there is none, throws UsageError that lists the names.
const ReportFormat& report_format(std::string_view name);

/// A report file: a format and a path.
struct ReportFile {
  const ReportFormat* format = nullptr;
  std::filesystem::path file;  ///< file or folder; empty: standard output
};
/// Parses "FORMAT", "FORMAT=FILE" or "FORMAT=FOLDER"; throws UsageError for an unknown format.
ReportFile report_file(std::string_view argument);
/// Writes the report to each target; a target without a file goes to `out`. Without targets, writes
/// a console report to `out`. Files are replaced atomically and have no colour. Throws
/// kbench::Error if a file cannot be written.
void write_reports(const Report& report, std::span<const ReportFile> report_files,
                   std::ostream& out);

}  // namespace kbench
