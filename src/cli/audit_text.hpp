// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "kbench/run_file.hpp"

namespace kbench::cli {

/// The output of `kbench audit`: a table of problems and answers, then the degenerate problems,
/// with the inputs and the tolerance that would catch each passing answer.
std::string audit_text(std::span<const ProblemAudit> audits, std::size_t width);

/// The same for programs: {"degenerate": [keys], "problems": [lines of the audit file]}.
nlohmann::json audit_json(std::span<const ProblemAudit> audits);

}  // namespace kbench::cli
