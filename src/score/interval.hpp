// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kbench/metrics.hpp"

/// 95 % intervals of values over problems.
namespace kbench::score {

/// One problem's contribution to a ratio of sums.
struct Term {
  double numerator = 0, denominator = 1;
};

/// The sum of numerators over the sum of denominators, with the percentile interval of a bootstrap
/// over problems. Some denominator must be above 0. Equal terms give an equal interval each time.
Estimate ratio(std::span<const Term> terms);

/// ratio() of numerators from 0 to their denominators. If the ratio is 0 or 1, every resample of
/// the bootstrap gives it again; then Wilson's interval (1927) for that many problems takes its
/// place.
Estimate fraction(std::span<const Term> terms);

/// fraction() of the problems with successes[i] > step, for each step from 0 to `steps` − 1. All
/// steps share one set of resamples, because a set for each would take seconds.
std::vector<Estimate> fractions_by_step(std::span<const std::size_t> successes, std::size_t steps);

}  // namespace kbench::score
