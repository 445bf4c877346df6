// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/metric.hpp"
#include "kbench/run_log.hpp"

namespace kbench {

struct ReportOptions {
  std::vector<double> p{0, 0.5, 0.8, 1, 1.5, 2};
  std::vector<int> k{1};
  std::string baseline;  ///< empty: the run's first
  bool color = false;
  int width = 100;  ///< columns of the terminal
  bool verbose = false;
};

/// One row of the summary: a model over all problems, or over one level.
struct SummaryRow {
  std::string model;
  int level = -1;  ///< −1: overall
  std::int64_t problems = 0, samples = 0, correct = 0;
  std::map<double, Estimate> fast;  ///< by p
  std::map<int, Estimate> pass;     ///< by k
  std::map<std::pair<double, int>, Estimate> fast_at_k;
  GeometricMean geomean;
};

/// A group of failures with one outcome and cause.
struct FailureGroup {
  Outcome outcome = Outcome::kMismatch;
  std::string cause;
  std::vector<std::size_t> records;  ///< indices into RunFile::records
};

/// The one model that every format writes, so that no two formats can disagree.
struct Report {
  RunFile run;
  ReportOptions options;
  bool on_cpu = false;  ///< leads with correctness; no fast_p for p > 0
  std::int64_t planned = 0, finished = 0;
  bool complete = false;
  std::vector<std::string> baselines;
  std::vector<std::size_t> exclusions;  ///< records: problem failures, unsupported on the CPU
  std::vector<SummaryRow> summary;      ///< per model: overall first, then by level
  std::vector<FailureGroup> failures;   ///< most frequent first
};

/// Builds the model. Throws UsageError where CPU and GPU records would share a table.
Report build_report(RunFile run, ReportOptions options);

/// One way to write a report. To add one: the function, and a row in report_formats().
struct ReportFormat {
  std::string_view name, extension;
  void (*write)(const Report&, std::ostream&);
};
std::span<const ReportFormat> report_formats();
/// The format of that name; throws UsageError naming the ones there are.
const ReportFormat& report_format(std::string_view name);

}  // namespace kbench
