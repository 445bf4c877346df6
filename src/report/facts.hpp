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

/// What the run lines say under that key of their options, or of their environment, for people; the
/// different texts where there are several.
std::string option(const RunFile& run, const char* key);
std::string environment(const RunFile& run, const char* key);
/// "5f0c2a9be1d34c77 of 2026-01-31T09:30:00Z".
std::string run_text(const RunFile& run);
/// Versions of kbench, torch and NVRTC.
std::string version_text(const RunFile& run);
/// Adds "`before``text`" to a comma-separated list, where there is a text.
void add_part(std::string& list, std::string_view before, std::string_view text);

/// The baselines that the runs asked for or the records hold, in that order.
std::vector<std::string> known_baselines(const RunFile& run);

}  // namespace kbench::report
