// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// The cause of a failed compile.
struct Diagnosis {
  std::string cause;    ///< as in CompileError
  std::string message;  ///< one sentence
};

/// Finds the first error in NVRTC's log, with the candidate's line ("line 12: identifier "foo" is
/// undefined"). If the source does not define a kernel of the plan, names that kernel.
Diagnosis diagnose(std::string_view log, const std::vector<std::string>& name_expressions);

}  // namespace kbench
