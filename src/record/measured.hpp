// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "kbench/record.hpp"

namespace kbench {

/// A positive quantity, and its 95 % interval where the records tell enough for one.
struct Measured {
  double value = 0;
  std::optional<double> lo = {}, hi = {};  ///< both or neither
};

/// Medians of one kernel on one GPU differ by up to this share from run to run. No run can see
/// that in its own measurements, so each interval of a ratio is wider by it at both ends.
inline constexpr double kRunToRunShare = 0.01;

/// A side's median in milliseconds with the interval that it has, else the one that follows from
/// its spread and count: the median's standard error is taken for 1.2533·std/√count (that of a
/// normal distribution, √(π/2)·σ/√n). By KernelBench's method its mean, with 1 instead of 1.2533.
/// None where it is not positive.
std::optional<Measured> measured_time(const SideTiming& side, const Interned& method);

/// a / b of two runs, with its interval where both have one: ends combine in quadrature on the log
/// scale, and kRunToRunShare is added to each.
Measured ratio_between_runs(const Measured& a, const Measured& b);

/// What `time` would be at the pace of another moment: times now / then, which are of one and the
/// same side, measured beside it and at that other moment. What changed between the two (clocks,
/// heat) and acts on all sides alike is no longer in it. Ends combine in quadrature on the log
/// scale, where all three have them.
Measured at_pace_of(const Measured& time, const Measured& then, const Measured& now);

}  // namespace kbench
