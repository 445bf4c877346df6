// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// What was run and on what, as (label, text), from the run lines and the records that count.
std::vector<std::pair<std::string, std::string>> facts(const Report& report);

/// What the reader has to know before any number.
std::vector<std::string> warnings(const RunFile& run, std::size_t off_roster);

/// Adds "`before``text`" to a comma-separated list, where there is a text.
void add_part(std::string& list, std::string_view before, std::string_view text);

}  // namespace kbench::report
