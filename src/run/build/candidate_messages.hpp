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

/// How a dry import ended, as its process reports it. The report is untrusted, so only people see
/// it.
struct DryImportEnd {
  std::string stage;  ///< how far it got: import, init, forward, end
  /// ^Its own failure, not that of a missing extension; limited to outcomes that a process may
  /// claim.
  Outcome outcome = Outcome::kLoadFailure;
  std::string cause, message;
};

/// Parses the body of a kCompile to the request of module_extension.py: known fields of known
/// types, limited in size and depth. A candidate may send any bytes; for others, returns the error
/// message.
std::variant<nlohmann::json, std::string> read_compile_request(std::string_view body);

/// Parses the body of a kDryImported and cuts its texts to a record's limits; nothing if malformed.
std::optional<DryImportEnd> read_dry_import_end(std::string_view body);

}  // namespace kbench::run
