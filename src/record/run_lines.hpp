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

/// A line of a type that this version does not know; a newer minor version may write one.
struct UnknownLine {
  std::string type;
};

using RunLine = std::variant<Record, std::vector<ManifestEntry>, RunHeader, RunEnd, UnknownLine>;

nlohmann::json to_json(const RunHeader& header);
/// Neighbouring entries that differ only in the sample become one JSON entry.
nlohmann::json to_json(std::span<const ManifestEntry> manifest);
nlohmann::json to_json(const RunEnd& end);

/// Reads the header of a run or an audit; ignores the line's type. Throws kbench::Error that names
/// the fault, and UsageError if the major version is not `major`.
RunHeader run_header_from_json(const nlohmann::json& line, int major);

/// Reads one line of a run file. Throws kbench::Error that names the fault, and UsageError for a
/// run line of a newer major version.
RunLine run_line_from(JsonView line, Trials trials = Trials::kAll);

}  // namespace kbench
