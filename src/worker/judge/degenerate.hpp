// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/reference/judged_problem.hpp"

namespace kbench::worker {

/// Names of the trivial answers that pass a problem's whole check: all trials, and all input
/// distributions that apply, including those that the run leaves out. Empty: all are caught.
/// Nothing if the check could not be completed, or by KernelBench's rules. Leaves out answers that
/// compute something (MadeOf::kReference).
///
/// For most problems this only inspects some elements of two trials, which candidates get as well.
/// Afterwards the problem's slots may have other trials' sets. Throws CandidateFailure if the
/// device fails.
std::optional<std::vector<std::string>> passing_trivial_answers(JudgedProblem& problem);

}  // namespace kbench::worker
