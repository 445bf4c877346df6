// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// The run summary as (label, text), from the run's header lines and the judged records.
std::vector<std::pair<std::string, std::string>> run_summary(const Report& report);

/// Warnings that a reader needs before the numbers.
std::vector<std::string> warnings(const RunFile& run);

/// Adds `before` + `text` to a comma-separated list, unless `text` is empty.
void add_part(std::string& list, std::string_view before, std::string_view text);

}  // namespace kbench::report
