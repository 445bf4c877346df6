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

/// The times in KernelBench's statistics (`mean`, `std`, `min`, `max`, `num_trials`, in ms). None
/// if the mean is missing, not finite, or not above 0; KernelBench writes −1 if it did not measure.
/// The median is NaN unless kbench wrote the file.
std::optional<SideTiming> side_timing(const nlohmann::json& stats);

/// The text of a field; "" if it has none.
std::string text_field(const nlohmann::json& object, const char* field);

/// One file of baseline times: the references' times with one baseline on one machine.
struct BaselineTimes {
  std::string baseline;  ///< "eager", "compile", or the rest of the file's name
  std::filesystem::path file;
  std::map<std::pair<int, std::string>, SideTiming> times;  ///< by level and stem ("19_ReLU")
  std::set<std::string> hardware;                           ///< the hardware that its entries name
};

/// The baseline in a file with this stem: "baseline_time_torch" → "eager".
std::string baseline_of_file(std::string_view stem);
/// The inverse: the stem of a baseline's file.
std::string file_of_baseline(std::string_view baseline);

/// Reads baseline files, and folders with `baseline_time_*.json` (results/timing/HARDWARE); eager
/// comes first. Throws UsageError for a missing path, a file of another form, and a baseline that
/// occurs twice.
std::vector<BaselineTimes> read_baseline_times(const std::vector<std::filesystem::path>& paths);

}  // namespace kbench
