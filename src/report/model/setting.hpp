// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kbench/report.hpp"

/// What the run lines and the records say of how a run was made.
namespace kbench::report {

Setting setting_of(const Report& report);

/// The different texts that `text` gives of the run lines, in their order.
std::vector<std::string> texts_of_headers(const RunFile& run,
                                          const std::function<std::string(const RunHeader&)>& text);
/// The same as one text.
std::string of_headers(const RunFile& run,
                       const std::function<std::string(const RunHeader&)>& text);

/// A value of a run line as people write it: text without its quotes, "" for null.
std::string plain(const nlohmann::json& value);

/// What the run lines say under that key of their options, or of their environment, for people; the
/// different texts where there are several.
std::string option(const RunFile& run, const char* key);
std::string environment(const RunFile& run, const char* key);
/// "5f0c2a9be1d34c77 of 2026-01-31T09:30:00Z".
std::string run_text(const RunFile& run);
/// The versions of kbench that made the run's files.
std::vector<std::string> versions_of(const RunFile& run);
/// Versions of kbench, torch and NVRTC.
std::string version_text(const RunFile& run);
/// The baselines that the runs asked for or the records hold, in that order.
std::vector<std::string> known_baselines(const RunFile& run);

}  // namespace kbench::report
