// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kbench/run_file.hpp"
#include "record/from_view.hpp"

namespace kbench {

/// The `end` line of a run file.
struct RunEnd {
  std::string secret;
  bool complete = false;
};

/// A line of a type that this version does not know: a newer minor version's.
struct UnknownLine {
  std::string type;
};

using RunLine = std::variant<Record, std::vector<RosterEntry>, RunHeader, RunEnd, UnknownLine>;

nlohmann::json to_json(const RunHeader& header);
/// Neighbours that differ in nothing but the sample become one entry of the line.
nlohmann::json to_json(std::span<const RosterEntry> roster);
nlohmann::json to_json(const RunEnd& end);

/// The header of a run or an audit, whatever its line's type. Throws kbench::Error naming what is
/// wrong with it, and UsageError for a newer major version than that.
RunHeader run_header_from_json(const nlohmann::json& line, int newest_major);

/// What one line of a run file says. Throws kbench::Error naming what is wrong with it, and
/// UsageError for a run line of a newer major version.
RunLine run_line_from(JsonView line, Trials trials = Trials::kAll);

/// The line as bytes, without its end: text that is not UTF-8 has its bad bytes replaced.
std::string dump_line(const nlohmann::json& line);

}  // namespace kbench
