// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/compare/comparison.hpp"

namespace kbench::report {

/// ComparedSample::reason if a run was on a CPU.
inline constexpr std::string_view kCpuReason = "CPU times do not measure a GPU's speed";

/// The candidate's time per call in milliseconds; none if the record has no positive time.
std::optional<Measured> candidate_time(const Record& record);

/// The baselines over which both records have a positive speedup, in the order of `base`.
std::vector<ComparedBaseline> shared_baselines(const Record& base, const Record& other);

/// Faster, slower, same or ambiguous, by the interval of `ratio`.
Change change_of(const Measured& ratio);

/// Fills in the comparison of speed of two correct and comparable records, and the change that
/// follows. `untimed`: the reason why their times cannot be compared; empty if they can.
void compare_speed(ComparedSample& sample, const Record& base, const Record& other,
                   const std::string& untimed);

}  // namespace kbench::report
