// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// The verdicts of several judges on one candidate.
struct Verdicts {
  std::vector<std::size_t> records;  ///< indices into RunFile::records, one for each judge
  bool differ = false;               ///< one judge found it correct and another did not
};

/// The candidates with verdicts of several judges at the same precision on the same device.
std::vector<Verdicts> shared_verdicts(const Report& report);

/// "kbench mismatch, wrong_values; kb_compat correct".
std::string verdicts_text(const Report& report, const Verdicts& verdicts);

/// "kbench 3 of 8, kb_compat 1 of 8": the failures of each judge, counted separately.
std::string failures_text(const Report& report);

/// " (judged by kb_compat)" for a judge other than kbench.
std::string judge_suffix(const Interned& judge);

}  // namespace kbench::report
