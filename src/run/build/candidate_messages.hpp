// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kbench/record.hpp"

namespace kbench::run {

/// How a scout ended, as its process tells it: a claim, of use to people alone.
struct ScoutEnd {
  std::string stage;  ///< how far it came: import, init, forward, end
  /// Where it failed of itself, with no extension missing; one that a process may claim.
  Outcome outcome = Outcome::kLoadFailure;
  std::string cause, message;
};

/// The body of a kCompile as the request that module_extension.py makes: known fields of known
/// types, none longer or deeper than an honest one needs. Else the sentence that says what is wrong
/// with it: any bytes may come from a candidate.
std::variant<nlohmann::json, std::string> read_compile_request(std::string_view body);

/// The body of a kScouted, its texts cut to what a record takes; nothing where it is none.
std::optional<ScoutEnd> read_scout_end(std::string_view body);

}  // namespace kbench::run
