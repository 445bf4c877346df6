// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/compare/compared_text.hpp"

/// Checks of a gate besides regressions: a sample that could not be compared must not pass.
namespace kbench::report {

/// Samples that are correct in the base, and planned but without a verdict in the other run.
std::vector<std::string> unjudged_names(const ComparedView& view);
/// Samples that are correct in the base but missing from the other run's manifest.
std::vector<std::string> gone_names(const ComparedView& view);

/// Empty if at least one sample could be compared, else the reason. `by_time`: compared by the
/// candidates' times.
std::string why_nothing_compared(const ComparedView& view, bool by_time);

/// Text such as "11 samples compared with old.jsonl, 7 of them by their times; 2 could not be:
/// precision native and fp16". `base`: the base's name.
std::string compared_count(const ComparedView& view, const std::string& base);

/// "a, b, c and 5 more".
std::string named(const std::vector<std::string>& names);

}  // namespace kbench::report
