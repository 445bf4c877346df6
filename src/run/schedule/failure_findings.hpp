// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kbench/record.hpp"
#include "kbench/run.hpp"
#include "run/process/judge_answer.hpp"

/// The findings of one more call of a failed candidate, with all checks of the CPU executor.
namespace kbench::run {

/// `--sanitize` of that call.
inline constexpr const char* kAllChecks = "all";
/// Its time limit. Checks for races make a call several times slower.
inline constexpr double kCheckedCallLimit_s = 10;

/// True if races or uninitialized memory may explain the failure, and the run has not checked for
/// all of them.
bool may_have_findings(const Record& record, const EvalOptions& options);

/// Sorts by how likely a finding is the cause of a wrong answer; faults come first.
void put_likeliest_first(std::vector<Finding>& findings);

/// What a finding says of its kernel: "; in reduce threads race for shared memory (0.cu:12)". Empty
/// for a fault.
std::string finding_words(const Finding& finding);

/// Adds the findings of that call to a failed candidate's record and details, and names the first
/// in the record's message. Sets Record::checked_again.
void take_findings(JudgeAnswer answer, Record& record, nlohmann::json& details);

}  // namespace kbench::run
