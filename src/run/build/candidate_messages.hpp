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

/// How a dry import ended, as its process reports it. It is a claim and only for people.
struct DryImportEnd {
  std::string stage;  ///< how far it got: import, init, forward, end
  /// Its own failure, without a missing extension; one that a process may claim.
  Outcome outcome = Outcome::kLoadFailure;
  std::string cause, message;
};

/// Parses the body of a kCompile to the request of module_extension.py: known fields of known
/// types, limited in size and depth. Else a message that says what is wrong, because a candidate
/// may send any bytes.
std::variant<nlohmann::json, std::string> read_compile_request(std::string_view body);

/// Parses the body of a kDryImported and cuts its texts to a record's limits; nothing if malformed.
std::optional<DryImportEnd> read_dry_import_end(std::string_view body);

}  // namespace kbench::run
