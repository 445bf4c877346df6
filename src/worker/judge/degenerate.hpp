// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/reference/judged_problem.hpp"

namespace kbench::worker {

/// Names of the trivial answers that pass a problem's whole check: all trials, and all
/// distributions of inputs that apply, also those that the run leaves out. Empty: each is caught.
/// Nothing if that could not be asked in full, and by KernelBench's rules. Answers that compute
/// something (MadeOf::kReference) are not asked.
///
/// A healthy problem costs a look at some elements of two trials that candidates are asked with in
/// any case. The problem's sets may hold other trials after it. Throws CandidateFailure if the
/// device fails.
std::optional<std::vector<std::string>> passing_trivial_answers(JudgedProblem& problem);

}  // namespace kbench::worker
