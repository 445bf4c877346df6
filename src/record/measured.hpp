// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "kbench/record.hpp"

namespace kbench {

/// A positive quantity, and its 95 % interval if the records have the data for one.
struct Measured {
  double value = 0;
  std::optional<double> lo = {}, hi = {};  ///< both or neither
};

/// Medians of one kernel on one GPU differ between runs by up to this fraction. Measurements of one
/// run do not show that, so ratio_between_runs() widens both ends of an interval by it.
inline constexpr double kRunToRunShare = 0.01;

/// A timed subject's median in milliseconds, with its stored interval. Without one, the interval
/// follows from spread and count: the standard error of the median is 1.2533·std/√count, as in a
/// normal distribution (√(π/2)·σ/√n). KernelBench's method uses the mean instead, without the
/// factor. None if the value is not positive.
std::optional<Measured> measured_time(const SideTiming& side, const Interned& method);

/// The ratio a / b of times from two runs, with an interval if both have one. The ends combine in
/// quadrature on the log scale, and kRunToRunShare is added to each.
Measured ratio_between_runs(const Measured& a, const Measured& b);

/// Converts `time` to the device's speed at another moment: time · now / then. `then` and `now` are
/// times of the same subject: `then` was measured alongside `time`, `now` at the other moment. This
/// removes changes that affect all subjects alike, such as clocks and heat. If all three have
/// intervals, their ends combine in quadrature on the log scale.
Measured at_pace_of(const Measured& time, const Measured& then, const Measured& now);

}  // namespace kbench
