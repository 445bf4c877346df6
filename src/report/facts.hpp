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
std::vector<std::string> warnings(const Report& report, std::size_t off_roster);

/// The baselines that the runs asked for or the records hold, in that order.
std::vector<std::string> known_baselines(const RunFile& run);

}  // namespace kbench::report
