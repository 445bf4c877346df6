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

/// A value with a bootstrap confidence interval (95 %, resampled over problems); no value where it
/// is not defined, with the reason.
struct Estimate {
  std::optional<double> value, lo, hi;
  std::string why_none;
};

/// What became of one planned sample, as far as metrics look at it.
struct SampleResult {
  bool correct = false;  ///< false where there is no record
  /// Something was seen to compute. A sample that is correct without it is right, and has no
  /// speedup that counts: not for any p above 0, nor in a mean.
  bool computes = true;
  /// Class own: only its own kernels ran; nothing where nobody looked (KernelBench does not).
  std::optional<bool> own = false;
  std::optional<double> speedup,
      speedup_lo;  ///< over the chosen baseline; lower end of its interval
  /// The least t with which allclose(rtol = t, atol = t) would take it, infinity: none would, or it
  /// gave nothing to compare; nothing where nobody looked.
  MaybeNumber allclose_at = {};
};

/// The results of one problem of one model, in the order of samples: what every metric is made of.
struct ProblemSamples {
  Interned problem;
  std::vector<SampleResult> samples;  ///< one per planned sample that is not excluded
  bool first_excluded = false;        ///< the first planned sample is not among them
};

/// fast_p: share of problems whose first sample is correct and has a speedup > p that counts; p = 0
/// is correctness. A problem whose first sample is excluded is left out, never replaced by the
/// second.
Estimate fast_p(std::span<const ProblemSamples> problems, double p);
/// fast_p@ci: fast_p where the lower end of the speedup's interval has to exceed p. No value where
/// there are speedups and none has an interval.
Estimate fast_p_ci(std::span<const ProblemSamples> problems, double p);
/// fast_p own: fast_p where only class own counts. No value where nobody looked at any class.
Estimate fast_p_own(std::span<const ProblemSamples> problems, double p);
/// pass@k, unbiased (Chen et al. 2021, arXiv:2107.03374): mean over problems of
/// 1 − C(n−c, k)/C(n, k). No value where some problem has k > n.
Estimate pass_at_k(std::span<const ProblemSamples> problems, int k);
/// pass@k with success meaning "correct and speedup > p".
Estimate fast_p_at_k(std::span<const ProblemSamples> problems, double p, int k);
/// Geometric mean of the speedups of correct first samples; `count` of them.
struct GeometricMean {
  Estimate estimate;
  std::int64_t count = 0;
};
GeometricMean geometric_mean(std::span<const ProblemSamples> problems);
/// Geometric mean over all problems of the speedup of the first sample, 1 where it is not correct
/// or was not timed: of who then keeps the reference.
Estimate geometric_mean_of_all(std::span<const ProblemSamples> problems);
/// Best-of-k speedup: geometric mean over problems of the expected best of k samples, drawn
/// without replacement, and the reference (so at least 1). No value where some problem has k > n.
Estimate best_of_k(std::span<const ProblemSamples> problems, int k);
/// Share of all planned samples that are correct.
Estimate share_correct(std::span<const ProblemSamples> problems);
/// Share of problems whose first sample allclose(rtol = t, atol = t) would take in every trial,
/// whatever the verdict. No value where nobody compared any.
Estimate share_allclose(std::span<const ProblemSamples> problems, double t);

struct Metric;

/// One kind of metric. To add one: the function, and a row in metric_rows().
struct MetricRow {
  /// Its name, with {p}, {k} and {t} standing for the parameters that it takes: "fast_{p}@{k}".
  std::string_view pattern;
  bool headline;       ///< shown where there is no room for all
  bool at_zero;        ///< says something of its own at p = 0
  bool ratio;          ///< a factor rather than a share of problems
  bool needs_speedup;  ///< at any p; what takes p needs one wherever p > 0
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
  bool needs_speedup() const;  ///< undefined where no GPU has timed anything
  Estimate compute(std::span<const ProblemSamples> problems) const;
};

/// The tolerances of which metrics_for() makes a metric each.
inline constexpr double kTolerances[] = {1e-2, 1e-3, 1e-4};

/// Every metric for these parameters, in the order of the table.
std::vector<Metric> metrics_for(std::span<const double> p, std::span<const int> k);
/// The metric of that name. Throws UsageError naming the ones there are.
Metric metric_from_name(std::string_view name);

}  // namespace kbench
