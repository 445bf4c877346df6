// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kbench/problem.hpp"
#include "kbench/record.hpp"

/// Candidates that are right at a problem's usual sizes are asked at others, too: `--sizes`.
namespace kbench::run {

/// The problem as it is at the sizes of that name in sizes.json, for a device class; nothing where
/// it has none. Its key tells them apart.
std::optional<Problem> at_sizes(const Problem& problem, const std::string& name,
                                const std::string& device_class);

/// Refuses names that no problem has. Throws UsageError, naming those that there are.
void check_size_names(const std::vector<std::string>& names, const std::vector<Problem>& problems);

/// Adds to the verdict on a candidate what became of it at other sizes. Where it failed there, that
/// is its outcome; where the problem itself did, that is nobody's fault, and noted in `details`.
void add_other_sizes(Record& record, const Record& other, const std::string& name,
                     nlohmann::json other_details, nlohmann::json& details);

}  // namespace kbench::run
