// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/compare/comparison.hpp"

namespace kbench::report {

/// ComparedSample::reason where a run was on a CPU.
inline constexpr std::string_view kCpuReason = "times of a CPU are no measure of speed";

/// The candidate's time in milliseconds of a call. None where it has no positive time.
std::optional<Measured> candidate_time(const Record& record);

/// The baselines that both records have a positive speedup over, in the order of `base`.
std::vector<ComparedBaseline> shared_baselines(const Record& base, const Record& other);

/// Faster, slower, same or ambiguous, as `ratio` says.
Change change_of(const Measured& ratio);

/// Fills in what two correct and comparable records say of speed, and the change that follows.
/// `untimed` says why their runs' times may not be compared; empty where they may.
void compare_speed(ComparedSample& sample, const Record& base, const Record& other,
                   const std::string& untimed);

}  // namespace kbench::report
