// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kbench/problem.hpp"
#include "kbench/record.hpp"

/// `--sizes`: a candidate that is correct at its problem's usual sizes is also checked at other
/// sizes.
namespace kbench::run {

/// The problem at the sizes with that name in its sizes.json, for a device class; nothing if the
/// name does not exist. Its key differs from the problem's.
std::optional<Problem> at_sizes(const Problem& problem, const std::string& name,
                                const std::string& device_class);

/// Throws UsageError, with the known names, if no problem has one of `names`.
void check_size_names(const std::vector<std::string>& names, const std::vector<Problem>& problems);

/// Adds a candidate's result at other sizes to its record. A failure of the candidate there becomes
/// its outcome. If the problem failed there, `details` notes it and the outcome stays.
void add_other_sizes(Record& record, const Record& other, const std::string& name,
                     nlohmann::json other_details, nlohmann::json& details);

}  // namespace kbench::run
