// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/record.hpp"
#include "worker/judged_problem.hpp"
#include "worker/truth.hpp"

/// What every answer to a problem is held to, whoever gives it: a candidate, or an audit.
namespace kbench::worker {

/// One tensor of an answer, and what it should be.
struct AnsweredTensor {
  Truth truth;
  at::Tensor got;         ///< of the truth's shape and of the output's type
  bool is_output = true;  ///< else an input or state that the answer may write
};

/// Compares an answer to one trial by the rule and the tolerance of a precision row.
TrialResult judge_answer(std::string_view precision, std::uint32_t trial,
                         std::span<const AnsweredTensor> answer);

/// The results of `answers` answers to a family of inputs, which the set of the slot holds by now;
/// `judge` gives that of one. Where one is wrong, makes sure of the truth first and asks again:
/// nothing where the family turns out to say nothing.
std::vector<TrialResult> judge_in_family(JudgedProblem& problem, std::size_t slot,
                                         const std::string& family, std::size_t answers,
                                         const std::function<TrialResult(std::size_t)>& judge);

}  // namespace kbench::worker
