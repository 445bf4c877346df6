// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/record.hpp"
#include "worker/compare/expected_output.hpp"
#include "worker/reference/judged_problem.hpp"

/// The criteria for all answers to a problem, a candidate's or an audit's.
namespace kbench::worker {

/// One tensor of an answer, and its expected output.
struct AnsweredTensor {
  ExpectedOutput expected_output;
  at::Tensor got;         ///< has the expected output's shape and the output's type
  bool is_output = true;  ///< else an input or state that the candidate may write
};

/// A TrialResult, and data that records do not contain.
struct JudgedAnswer : TrialResult {
  std::int64_t elements = 0;  ///< in all tensors of the answer
  double worst_ratio = 0;     ///< the largest error divided by its tolerance
  bool whole = false;         ///< a wrong tensor has integral values (ExpectedOutput::whole)
};

/// Compares an answer to one trial by the rule and the tolerance of a precision row.
JudgedAnswer judge_answer(std::string_view precision, std::uint32_t trial,
                          std::span<const AnsweredTensor> answer);

/// True if the outputs match the expected outputs within their tolerances.
bool are_right(std::span<const ExpectedOutput> expected_outputs,
               std::span<const at::Tensor> outputs, std::string_view precision);

/// The results of `answers` answers to an input distribution; `judge` returns the result of one.
/// The slot's set has the distribution's inputs. If an answer is wrong, confirms the expected
/// output and judges again. Empty if the distribution turns out to be no evidence.
std::vector<JudgedAnswer> judge_in_distribution(
    JudgedProblem& problem, std::size_t slot, const std::string& distribution, std::size_t answers,
    const std::function<JudgedAnswer(std::size_t)>& judge);

/// Wrong answers of one candidate to one distribution of inputs that are wrong by so little that
/// another order of additions may decide: at most max(1, 1e-5 n) of the distribution's n elements
/// miss the tolerance, each by less than a factor of two.
class NearMisses {
 public:
  /// `answers`: how many answers the candidate gives to the distribution.
  explicit NearMisses(int answers) : answers_(answers) {}
  /// True if the answer is wrong, and it and those that were taken before are near misses.
  bool takes(const JudgedAnswer& judged);
  bool any() const { return wrong_elements_ > 0; }

 private:
  int answers_;
  std::int64_t wrong_elements_ = 0;
};

}  // namespace kbench::worker
