// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// What several judges said of one candidate.
struct Verdicts {
  std::vector<std::size_t> records;  ///< indices into RunFile::records, one for each judge
  bool differ = false;               ///< one found it correct and another did not
};

/// The candidates of which several judges have a verdict at one precision on one device.
std::vector<Verdicts> shared_verdicts(const Report& report);

/// "kbench mismatch, wrong_values; kb_compat correct".
std::string verdicts_text(const Report& report, const Verdicts& verdicts);

/// "kbench 3 of 8, kb_compat 1 of 8": the failures of each judge, none in a number with another's.
std::string failures_text(const Report& report);

/// " (judged by kb_compat)" for a judge other than kbench.
std::string judge_suffix(const Interned& judge);

}  // namespace kbench::report
