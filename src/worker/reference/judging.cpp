// SPDX-License-Identifier: MIT
#include "worker/reference/judging.hpp"

#include <ATen/ATen.h>

#include <algorithm>

#include "worker/compare/compare.hpp"

namespace kbench::worker {
namespace {

/// If the reference's own error is at most this, error_ratio is not computed: so small an error is
/// no measure for a candidate's.
constexpr double kSmallestError = 1e-8;

/// Limits of a near miss: fraction of wrong elements, and their error over the tolerance.
constexpr double kNearShare = 1e-5;
constexpr double kNearRatio = 2;

}  // namespace

JudgedAnswer judge_answer(std::string_view precision, std::uint32_t trial,
                          std::span<const AnsweredTensor> answer) {
  JudgedAnswer result;
  result.trial = static_cast<int>(trial);
  double max_abs = 0;
  double max_rel = 0;
  std::size_t output = 0;
  for (const auto& [expected_output, got, is_output] : answer) {
    const double allowed = expected_output.allowed(tolerance_for(precision, got.scalar_type()));
    auto comparison = expected_output.compared(got, allowed, comparison_rule(precision));
    if (comparison.wrong_elements > 0 && expected_output.wider.defined()) {
      auto wider = compare(expected_output.wider, got, allowed, comparison_rule(precision));
      if (wider.wrong_elements < comparison.wrong_elements) comparison = std::move(wider);
    }
    if (expected_output.is_exact && expected_output.eager_error.value_or(0) > kSmallestError)
      result.error_ratio = std::max(result.error_ratio.value_or(0),
                                    comparison.max_rel_error / *expected_output.eager_error);
    max_abs = std::max(max_abs, comparison.max_abs_error);
    max_rel = std::max(max_rel, comparison.max_rel_error);
    // torch's allclose counts every NaN as wrong, so the other trials decide allclose_at.
    if (expected_output.non_finite)
      comparison.allclose_at = std::min(
          comparison.allclose_at, comparison.wrong_elements > 0 ? comparison.max_abs_error : 0);
    result.elements += got.numel();
    result.worst_ratio = std::max(result.worst_ratio, comparison.max_rel_error / allowed);
    if (comparison.wrong_elements > 0) result.whole = result.whole || expected_output.whole > 0;
    if (is_output)
      result.allclose_at = std::max(result.allclose_at.value_or(0), comparison.allclose_at);
    result.wrong_elements += comparison.wrong_elements;
    if (comparison.first_wrong && !result.first_wrong) {
      result.first_wrong = std::move(comparison.first_wrong);
      result.first_wrong->output = output;
    }
    if (is_output) ++output;
  }
  result.max_abs_error = max_abs;
  result.max_rel_error = max_rel;
  return result;
}

bool are_right(std::span<const ExpectedOutput> expected_outputs,
               std::span<const at::Tensor> outputs, std::string_view precision) {
  return std::ranges::equal(expected_outputs, outputs,
                            [&](const ExpectedOutput& expected_output, const at::Tensor& output) {
                              const double allowed = expected_output.allowed(
                                  tolerance_for(precision, output.scalar_type()));
                              return expected_output.value.sizes() == output.sizes() &&
                                     expected_output.compared(output, allowed).wrong_elements == 0;
                            });
}

bool NearMisses::takes(const JudgedAnswer& judged) {
  if (judged.wrong_elements == 0 || judged.whole || !(judged.worst_ratio < kNearRatio))
    return false;
  const double elements = static_cast<double>(judged.elements) * answers_;
  const std::int64_t wrong = wrong_elements_ + judged.wrong_elements;
  if (static_cast<double>(wrong) > std::max(1.0, kNearShare * elements)) return false;
  wrong_elements_ = wrong;
  return true;
}

std::vector<JudgedAnswer> judge_in_distribution(
    JudgedProblem& problem, std::size_t slot, const std::string& distribution, std::size_t answers,
    const std::function<JudgedAnswer(std::size_t)>& judge) {
  const auto is_wrong = [](const JudgedAnswer& result) { return result.wrong_elements > 0; };
  std::vector<JudgedAnswer> results;
  for (std::size_t i = 0; i < answers; ++i) results.push_back(judge(i));
  if (std::ranges::any_of(results, is_wrong)) {
    if (!problem.confirm_distribution(slot, distribution)) return {};
    for (std::size_t i = 0; i < answers; ++i)
      if (is_wrong(results[i])) results[i] = judge(i);
  }
  for (JudgedAnswer& result : results) result.distribution = distribution;
  return results;
}

}  // namespace kbench::worker
