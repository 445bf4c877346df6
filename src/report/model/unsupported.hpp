// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "kbench/report.hpp"

namespace kbench::report {

/// The number of a row's samples except `unsupported` ones, which other counts take as wrong. 0 for
/// a row of a slice.
std::int64_t judged_samples(const Report& report, const SummaryRow& row);

/// The number of unsupported samples, and each model's correct samples over both denominators: with
/// and without them. Empty if there are none.
std::string unsupported_text(const Report& report);

}  // namespace kbench::report
