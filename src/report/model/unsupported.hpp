// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "kbench/report.hpp"

namespace kbench::report {

/// Samples of a row, of no slice, that were judged: all but those that are `unsupported`, which
/// count as wrong. 0 for a row of a slice.
std::int64_t judged_samples(const Report& report, const SummaryRow& row);

/// What unsupported samples make of each model, by both denominators; empty if there are none.
std::string unsupported_text(const Report& report);

}  // namespace kbench::report
