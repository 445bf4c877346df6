// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// What a failed compile comes down to.
struct Diagnosis {
  std::string cause;    ///< as in CompileError
  std::string message;  ///< one sentence
};

/// Reads NVRTC's log: the first error, with the candidate's line ("line 12: identifier "foo" is
/// undefined"), or the kernel of the plan that the source does not define.
Diagnosis diagnose(std::string_view log, const std::vector<std::string>& name_expressions);

}  // namespace kbench
