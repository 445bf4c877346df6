// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// A candidate's failure, or a sanitizer's finding in a correct candidate, at a line of its file.
struct CodeFinding {
  std::string file;     ///< relative to the current folder, if it lies below that
  int line = 1;         ///< 1 if it is not known
  bool failure = true;  ///< false: a finding in a correct candidate
  std::string rule;     ///< "mismatch.wrong_values", "uninitialized_read"
  std::string message;  ///< one line
  /// Equal for the same finding in a later run, even if its line has moved.
  std::string fingerprint;
};

/// For services that show findings in a review: failures first, at most 5000. Leaves out
/// candidates of outcome `missing`, because they have no file.
std::vector<CodeFinding> code_findings(const Report& report);

}  // namespace kbench::report
