// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "kbench/report.hpp"

namespace kbench::report {

/// The samples of a row that were judged: all except `unsupported` ones, which count as wrong. 0
/// for a row of a slice.
std::int64_t judged_samples(const Report& report, const SummaryRow& row);

/// The number of unsupported samples, and each model's correct samples over both denominators: with
/// and without them. Empty if there are none.
std::string unsupported_text(const Report& report);

}  // namespace kbench::report
