// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kbench/run_log.hpp"

namespace kbench {

/// A value with a bootstrap confidence interval (95 %, resampled over problems); no value where it
/// is not defined, with the reason.
struct Estimate {
  std::optional<double> value, lo, hi;
  std::string why_none;
};

/// The results of one problem of one model, in the order of samples: what every metric is made of.
struct ProblemSamples {
  std::string problem;
  int planned = 0;            ///< samples on the roster
  std::vector<bool> correct;  ///< per planned sample; absent records are false
  std::vector<std::optional<double>>
      speedup;  ///< over the chosen baseline, where correct and timed
};

/// fast_p: share of problems whose first sample is correct and has a speedup > p; p = 0 is
/// correctness.
Estimate fast_p(const std::vector<ProblemSamples>& problems, double p);
/// pass@k, unbiased: mean of 1 − C(n−c, k)/C(n, k). No value where some problem has k > n.
Estimate pass_at_k(const std::vector<ProblemSamples>& problems, int k);
/// pass@k with success meaning "correct and speedup > p".
Estimate fast_p_at_k(const std::vector<ProblemSamples>& problems, double p, int k);
/// Geometric mean of the speedups of correct first samples; `count` of them.
struct GeometricMean {
  Estimate estimate;
  std::int64_t count = 0;
};
GeometricMean geometric_mean(const std::vector<ProblemSamples>& problems);

}  // namespace kbench
