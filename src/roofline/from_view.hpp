// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "base/json/view.hpp"
#include "kbench/profile.hpp"

/// The public `*_from_json()` functions for JsonViews of a run file's lines. They throw the same
/// errors.
namespace kbench {

KernelProfile kernel_profile_from(JsonView object);
LeastWork least_work_from(JsonView object);
SpeedOfLight speed_of_light_from(JsonView object);

/// The numbers above 0, by the name of their FlopType.
template <typename Numbers>
nlohmann::json by_type(const Numbers& numbers) {
  nlohmann::json object = nlohmann::json::object();
  for (std::size_t type = 0; type < kFlopTypes; ++type)
    if (numbers[type] > 0)
      object[std::string(to_string(static_cast<FlopType>(type)))] = numbers[type];
  return object;
}

}  // namespace kbench
