// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

namespace kbench::report {

using json = nlohmann::ordered_json;

/// null where there is no number.
inline json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

/// Writes an object but for its end: rows follow.
inline void write_head(std::ostream& out, const json& head) {
  const std::string text = head.dump(1, ' ', false, json::error_handler_t::replace);
  out << text.substr(0, text.rfind('\n'));
}

/// Writes "name": [ … ] with one row a line, never holding more than one row.
template <typename Rows, typename ToJson>
void write_rows(std::ostream& out, const char* name, const Rows& rows, ToJson to_row) {
  out << ",\n\"" << name << "\": [";
  const char* separator = "\n";
  for (const auto& row : rows) {
    out << separator << to_row(row).dump(-1, ' ', false, json::error_handler_t::replace);
    separator = ",\n";
  }
  out << "]";
}

}  // namespace kbench::report
