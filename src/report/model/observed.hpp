// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
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

/// Columns of a record's profile, the first of them a name, and a row for each kernel: what the
/// executor counted, or how a GPU ran it.
std::span<const std::string_view> profile_columns(const Record& record);
std::vector<std::vector<std::string>> profile_rows(const Record& record);
/// A launch, the name of such a row, in the width of a column: its kernel's name gives way.
std::string fitted_launch(std::string_view launch, std::size_t width);
/// What the bytes that the problem cannot do without come to in a second while the candidate's call
/// was on the GPU: "at least 2.10 TB/s"; empty where either is unknown.
std::string bandwidth_text(const Record& record);
/// What has to stand below a profile; empty where nothing was estimated.
std::string_view profile_note(const Record& record);
/// "estimate for H200: 3.00 µs, reference 4.50 µs: 1.50x"; empty where nothing was estimated.
std::string estimate_text(const Record& record);
/// The same in the width of a column: "3.00 µs 1.50x".
std::string short_estimate(const Record& record);
/// The GPU of the report's estimates; empty where it has none.
std::string estimated_gpu(const Report& report);

}  // namespace kbench::report
