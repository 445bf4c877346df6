// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kbench {

/// The value as text, on one line unless `indent` is given. Bytes that are not UTF-8 are replaced.
template <typename Json = nlohmann::json>
std::string dumped(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kbench
