// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/values.hpp"

namespace kbench {

/// A value with a 95 % confidence interval over problems: a bootstrap's, or Wilson's for a fraction
/// of 0 or 1. If the metric is undefined there is no value, and `why_none` is the reason.
struct Estimate {
  std::optional<double> value, lo, hi;
  std::string why_none;
};

/// The verdict on one planned sample: the part that metrics need.
struct SampleResult {
  bool correct = false;
  /// The trace shows that the candidate computes something. If false, the sample may count as
  /// correct, but its speedup counts in no metric.
  bool computes = true;
  /// True if only the candidate's own kernels ran (class `own`); empty if unknown, as from
  /// KernelBench.
  std::optional<bool> own = false;
  std::optional<double> speedup,
      speedup_lo;  ///< over the chosen baseline; lower end of its interval
  /// The least t for which allclose(rtol = t, atol = t) accepts the sample. Infinity: no t does, or
  /// there are no outputs to compare. Empty: the judge did not compute it.
  MaybeNumber allclose_at = {};
};

/// The results of one model's samples for one problem, in order: the input of every metric.
struct ProblemSamples {
  Interned problem;
  std::vector<SampleResult> samples;  ///< one per planned sample that metrics count
  bool first_excluded = false;        ///< no metric counts the first planned sample
  std::int64_t no_verdict = 0;        ///< planned samples that wait for a verdict; none counts
};

/// fast_p: fraction of problems whose first sample is correct and has a counted speedup > p. At p =
/// 0, correctness suffices. If a problem's first sample is excluded, the problem is left out: a
/// later sample never replaces the first.
Estimate fast_p(std::span<const ProblemSamples> problems, double p);
/// fast_p from this p on, up to the p of the next step.
struct FastPStep {
  double p = 0;
  Estimate value;
};
/// fast_p() from p = 0 to `most`: a step at each p where it changes, which are 0 and the speedups,
/// and one at `most`. Of more than a thousand steps, those closest to each other become one. Empty
/// if no first sample counts.
std::vector<FastPStep> fast_p_steps(std::span<const ProblemSamples> problems, double most);
/// fast_p@ci: fast_p with the lower end of the speedup's interval instead of the speedup. No value
/// if there are speedups but none has an interval.
Estimate fast_p_ci(std::span<const ProblemSamples> problems, double p);
/// fast_p own: fast_p, but only samples of class `own` count. No value if no class is known.
Estimate fast_p_own(std::span<const ProblemSamples> problems, double p);
/// pass@k, unbiased (Chen et al. 2021, arXiv:2107.03374): mean over problems of
/// 1 − C(n−c, k)/C(n, k), n samples of which c are correct. No value if a problem has n < k.
Estimate pass_at_k(std::span<const ProblemSamples> problems, int k);
/// pass@k, but a success is "correct and speedup > p".
Estimate fast_p_at_k(std::span<const ProblemSamples> problems, double p, int k);
/// Geometric mean of the speedups of correct first samples, and their number.
struct GeometricMean {
  Estimate estimate;
  std::int64_t count = 0;
};
GeometricMean geometric_mean(std::span<const ProblemSamples> problems);
/// Geometric mean over all problems of the first sample's speedup. A sample that is not correct or
/// not timed counts as 1, because the reference would be used in its place.
Estimate geometric_mean_of_all(std::span<const ProblemSamples> problems);
/// Best-of-k speedup: geometric mean over problems of the expected best speedup of k samples, drawn
/// without replacement. The reference, with speedup 1, competes too, so the value is at least 1.
/// No value if a problem has fewer than k samples.
Estimate best_of_k(std::span<const ProblemSamples> problems, int k);
/// Fraction of the samples that are correct.
Estimate share_correct(std::span<const ProblemSamples> problems);
/// Fraction of problems for whose first sample allclose(rtol = t, atol = t) holds in every trial.
/// The verdict does not matter. No value if `allclose_at` is empty for all samples.
Estimate share_allclose(std::span<const ProblemSamples> problems, double t);

struct Metric;

/// One kind of metric. To add one: the function, and a row in metric_rows().
struct MetricRow {
  /// The name, with {p}, {k} and {t} in place of its parameters: "fast_{p}@{k}".
  std::string_view pattern;
  bool headline;       ///< shown even if there is no room for all metrics
  bool at_zero;        ///< also listed at p = 0; false: pass@k or fast_0 is the same there
  bool ratio;          ///< a ratio, not a fraction of problems or samples
  bool needs_speedup;  ///< even at p = 0; a metric with p always needs speedups if p > 0
  Estimate (*compute)(std::span<const ProblemSamples> problems, const Metric& metric);
  bool takes_p() const { return pattern.find("{p}") != std::string_view::npos; }
  bool takes_k() const { return pattern.find("{k}") != std::string_view::npos; }
  bool takes_t() const { return pattern.find("{t}") != std::string_view::npos; }
};
std::span<const MetricRow> metric_rows();

/// A metric with its parameters.
struct Metric {
  const MetricRow* row = nullptr;
  double p = 0;                ///< speedup
  int k = 1;                   ///< number of samples
  double t = 0;                ///< tolerance
  std::string name() const;    ///< "fast_1.5@5"
  bool needs_speedup() const;  ///< undefined without times of a GPU
  Estimate compute(std::span<const ProblemSamples> problems) const;
};

/// metrics_for() makes one metric for each of these tolerances.
inline constexpr double kTolerances[] = {1e-2, 1e-3, 1e-4};

/// Every metric for these parameters, in the order of the table.
std::vector<Metric> metrics_for(std::span<const double> p, std::span<const int> k);
/// The metric of that name; if there is none, throws UsageError that lists the names.
Metric metric_from_name(std::string_view name);

}  // namespace kbench
