// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"

/// What the executor tells beside a verdict: findings, counters, estimates.
namespace kbench::report {

/// Records of the report with findings that no failure tells already, in its order.
std::vector<std::size_t> with_findings(const Report& report);
/// Records of the report with a profile or an estimate, in its order.
std::vector<std::size_t> with_profile(const Report& report);

/// One sentence a finding: "uninitialized_read: … (64 times)".
std::string finding_text(const Finding& finding);

/// Columns of a profile, the first of them a name, and a row for each kernel.
inline constexpr std::string_view kProfileColumns[] = {"kernel",      "instructions", "lanes",
                                                       "sectors/req", "unique MB",    "conflicts",
                                                       "flops",       "estimate"};
std::vector<std::vector<std::string>> profile_rows(const Record& record);
/// "estimate for H200: 3.00 µs, reference 4.50 µs: 1.50x"; empty where nothing was estimated.
std::string estimate_text(const Record& record);
/// The same in the width of a column: "3.00 µs 1.50x".
std::string short_estimate(const Record& record);
/// The GPU of the report's estimates; empty where it has none.
std::string estimated_gpu(const Report& report);

/// What has to stand below every estimate.
inline constexpr std::string_view kEstimateNote =
    "Estimates come from bytes and operations over a data sheet's peaks plus launch cost; they are "
    "no measurements and count in no metric.";

}  // namespace kbench::report
