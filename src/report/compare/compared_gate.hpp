// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/compare/compared_text.hpp"

/// What a gate has to know of two runs beside what became slower or broke: a sample that it cannot
/// see is none that passes.
namespace kbench::report {

/// Samples that the base has right, and that the other run was to judge and has not.
std::vector<std::string> unjudged_names(const ComparedView& view);
/// Samples that the base has right, and that are not on the other run's roster.
std::vector<std::string> gone_names(const ComparedView& view);

/// Why no sample could be compared, or with `by_time` none by the candidates' times; empty where
/// one was.
std::string why_nothing_compared(const ComparedView& view, bool by_time);

/// "11 samples compared with old.jsonl, 7 of them by their times; 2 could not be: precision native
/// and fp16"; `base` is what the base is called.
std::string compared_count(const ComparedView& view, const std::string& base);

/// "a, b, c and 5 more".
std::string named(const std::vector<std::string>& names);

}  // namespace kbench::report
