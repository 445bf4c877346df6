// SPDX-License-Identifier: MIT
#include "record/measured.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kbench {
namespace {

constexpr double kStandardErrors = 1.96;  // 95 % of a normal distribution
// Standard error of the median over that of the mean, for a normal distribution: √(π/2), 1.2533.
const double kMedianFactor = std::sqrt(std::numbers::pi / 2);

bool is_positive(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

std::optional<Measured> measured_time(const SideTiming& side, const Interned& method) {
  const bool is_median =
      std::isfinite(side.median_ms) && !(method == "kb_events" && std::isfinite(side.mean_ms));
  const double time_ms = is_median ? side.median_ms : side.mean_ms;
  if (!is_positive(time_ms)) return std::nullopt;
  Measured measured{.value = time_ms};
  if (side.lo_ms && side.hi_ms && is_positive(*side.lo_ms) && is_positive(*side.hi_ms)) {
    // A median may lie outside of its bootstrap interval.
    measured.lo = std::min(*side.lo_ms, time_ms);
    measured.hi = std::max(*side.hi_ms, time_ms);
    return measured;
  }
  if (side.count < 2 || !std::isfinite(side.std_ms) || side.std_ms < 0) return measured;
  const double error = (is_median ? kMedianFactor : 1) * side.std_ms /
                       std::sqrt(static_cast<double>(side.count)) / time_ms;
  const double ratio = std::exp(kStandardErrors * error);
  if (!std::isfinite(ratio)) return measured;
  measured.lo = time_ms / ratio;
  measured.hi = time_ms * ratio;
  return measured;
}

Measured ratio_between_runs(const Measured& a, const Measured& b) {
  Measured ratio{.value = a.value / b.value};
  if (!a.lo || !a.hi || !b.lo || !b.hi) return ratio;
  const double floor = std::log1p(kRunToRunShare);
  const double down = std::hypot(std::log(a.value / *a.lo), std::log(*b.hi / b.value));
  const double up = std::hypot(std::log(*a.hi / a.value), std::log(b.value / *b.lo));
  ratio.lo = ratio.value * std::exp(-down - floor);
  ratio.hi = ratio.value * std::exp(up + floor);
  return ratio;
}

Measured at_pace_of(const Measured& time, const Measured& then, const Measured& now) {
  Measured paced{.value = time.value * now.value / then.value};
  if (!time.lo || !time.hi || !then.lo || !then.hi || !now.lo || !now.hi) return paced;
  const double down = std::hypot(std::log(time.value / *time.lo), std::log(now.value / *now.lo),
                                 std::log(*then.hi / then.value));
  const double up = std::hypot(std::log(*time.hi / time.value), std::log(*now.hi / now.value),
                               std::log(then.value / *then.lo));
  paced.lo = paced.value * std::exp(-down);
  paced.hi = paced.value * std::exp(up);
  return paced;
}

}  // namespace kbench
