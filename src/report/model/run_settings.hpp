// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kbench/report.hpp"

/// The run settings, from the run's header lines and the records.
namespace kbench::report {

RunSettings run_settings_of(const Report& report);

/// The distinct non-empty texts that `text` returns for the run's headers, in their order.
std::vector<std::string> texts_of_headers(const RunFile& run,
                                          const std::function<std::string(const RunHeader&)>& text);
/// The same, joined by "; ".
std::string of_headers(const RunFile& run,
                       const std::function<std::string(const RunHeader&)>& text);

/// A JSON value for people: a string without its quotes, "" for null.
std::string plain(const nlohmann::json& value);

/// The value of this key in the headers' options or environment, for people; distinct values are
/// joined by "; ".
std::string option(const RunFile& run, const char* key);
std::string environment(const RunFile& run, const char* key);
/// "5f0c2a9be1d34c77 of 2026-01-31T09:30:00Z".
std::string run_text(const RunFile& run);
/// The versions of kbench that wrote the run's files.
std::vector<std::string> versions_of(const RunFile& run);
/// Versions of kbench, torch and NVRTC.
std::string version_text(const RunFile& run);
/// The baselines that the runs requested, then others that records have.
std::vector<std::string> known_baselines(const RunFile& run);

}  // namespace kbench::report
