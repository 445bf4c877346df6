// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kbench/record.hpp"

namespace kbench {

/// The times that KernelBench's statistics (`mean`, `std`, `min`, `max`, `num_trials`, in ms) hold;
/// nothing where the mean is no time: missing, not finite, or not above 0 (it writes −1 for what it
/// did not measure). The median is not a number but where kbench itself has written one.
std::optional<SideTiming> side_timing(const nlohmann::json& stats);

/// The text of that field, "" where it is none.
std::string text_field(const nlohmann::json& object, const char* field);

/// One file of baseline times: how long references took, run in one way on one machine.
struct BaselineTimes {
  std::string baseline;  ///< "eager", "compile", or what the file's name says
  std::filesystem::path file;
  std::map<std::pair<int, std::string>, SideTiming> times;  ///< by level and stem ("19_ReLU")
  std::set<std::string> hardware;                           ///< that its entries name
};

/// The baseline that a file of that stem holds: "baseline_time_torch" → "eager".
std::string baseline_of_file(std::string_view stem);
/// The stem of the file for a baseline: the inverse.
std::string file_of_baseline(std::string_view baseline);

/// Reads baseline files, and folders with `baseline_time_*.json` (results/timing/HARDWARE), eager
/// first. Throws UsageError naming what is missing, no such file, or the same baseline twice.
std::vector<BaselineTimes> read_baseline_times(const std::vector<std::filesystem::path>& paths);

}  // namespace kbench
