// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/report.hpp"

/// Observations in addition to a verdict: findings, counters, estimates.
namespace kbench::report {

/// Indices of the candidates' records with findings that are not part of a failure message.
std::vector<std::size_t> with_findings(const Report& report);
/// Indices of the candidates' records with a profile or an estimate.
std::vector<std::size_t> with_profile(const Report& report);

/// "uninitialized_read: … (64 times)".
std::string finding_text(const Finding& finding);

/// Columns of a record's profile (the first is the launch's name), and a row for each kernel: the
/// PTX executor's counters, or a GPU's times.
std::span<const std::string_view> profile_columns(const Record& record);
std::vector<std::vector<std::string>> profile_rows(const Record& record);
/// A launch, the name of such a row, cut to `width` columns: the kernel's name is cut first.
std::string fitted_launch(std::string_view launch, std::size_t width);
/// The bytes that the problem must transfer, divided by the time of the candidate's call: "at least
/// 2.10 TB/s". Empty if either is unknown.
std::string bandwidth_text(const Record& record);
/// The note below a profile; empty if the record has no estimate.
std::string_view profile_note(const Record& record);
/// "estimate for H200: 3.00 µs, reference 4.50 µs: 1.50x"; empty if the record has no estimate.
std::string estimate_text(const Record& record);
/// The same for a table's column: "3.00 µs 1.50x".
std::string short_estimate(const Record& record);
/// The GPU of the report's estimates; empty if it has none.
std::string estimated_gpu(const Report& report);

}  // namespace kbench::report
