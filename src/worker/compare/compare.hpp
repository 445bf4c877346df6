// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "kbench/record.hpp"

namespace kbench::worker {

/// A precision row: the types of its floating tensors, and the largest error of a correct answer.
struct PrecisionRow {
  std::string_view name;
  double tolerance;  ///< relative to the output's own scale
  double named;      ///< a wrong answer with at most this error is named after this row
  /// A wrong answer is also named after the row if its norm_error() is at most this and no element
  /// stands out. Among very many rounded elements, the largest error depends more on their number
  /// than on the rounding.
  double named_norm;
};

/// The strictest row that could explain these errors of a whole answer; nullptr if none.
const PrecisionRow* row_looked_like(double max_rel_error, double norm_error);

/// The rows, from strict to loose.
std::span<const PrecisionRow> precision_rows();
/// The tolerance for a tensor of this type under the run's precision option ("native", "tf32", …).
double tolerance_for(std::string_view precision, at::ScalarType dtype);

/// A rule that decides which elements are correct. To add one: the function, and a row in
/// compare.cpp.
struct ComparisonRule {
  std::string_view name;  ///< "scaled" (kbench's), "allclose" (KernelBench's)
  /// Returns a mask of the wrong elements. `relative`: Comparison::max_rel_error per element. It is
  /// undefined if the judge's kernels compute everything but this rule.
  at::Tensor (*wrong)(const at::Tensor& expected, const at::Tensor& got, const at::Tensor& relative,
                      double tolerance);
  bool in_kernels;  ///< the judge's kernels count wrong elements by it
};
std::span<const ComparisonRule> comparison_rules();
/// The rule for a precision row.
const ComparisonRule& comparison_rule(std::string_view precision);

/// The differences between one output and the expected output.
struct Comparison {
  double max_abs_error = 0;
  /// max |got − expected| / (|expected| + rms(expected)); infinite if NaN or Inf differ.
  /// norm_error() is at most twice this, because (|e| + rms)² ≤ 2 (e² + rms²). So an answer with
  /// correct elements is also correct in the norm.
  double max_rel_error = 0;
  /// max |got − expected| / (1 + |expected|): the least t for which allclose(rtol = t, atol = t)
  /// holds; infinite if there is none, as for a NaN.
  double allclose_at = 0;
  std::int64_t wrong_elements = 0;
  std::optional<WrongElement> first_wrong;
};

/// Returns the replacement for `part`, the elements of an answer from `begin` on.
using Settle = std::function<at::Tensor(const at::Tensor& part, std::int64_t begin)>;

/// Compares element by element, in chunks, on the tensors' device. Temporaries stay within 64 MB;
/// the same holds for the functions below. Shapes must be equal.
///
/// Rule "scaled": integers and bools must be equal, and NaN and Inf must be in the same places with
/// the same sign of Inf. Rule "allclose": torch's.
Comparison compare(const at::Tensor& expected, const at::Tensor& got, double tolerance,
                   const ComparisonRule& rule = comparison_rules().front(),
                   const Settle& settle = nullptr);

/// A chunk of an output in which elements are wrong; the tensors have one dimension.
struct WrongChunk {
  std::int64_t begin;  ///< its first element
  at::Tensor expected, got;
  at::Tensor wrong;  ///< the mask of the wrong elements
  double scale;      ///< rms(expected), which each element's size is added to
};
/// Calls `visit` for each chunk with elements that compare() counts as wrong.
void visit_wrong(const at::Tensor& expected, const at::Tensor& got, double tolerance,
                 const ComparisonRule& rule, const Settle& settle,
                 const std::function<void(const WrongChunk&)>& visit);

/// The result of compare() by the rule "scaled" for an `expected` with non-finite elements.
/// Non-finite deviations (expected_output.hpp) count as correct.
struct DeviatingComparison {
  Comparison comparison;
  std::uint64_t deviations;  ///< bit i: there are deviations of the i-th kind
};
/// Compares in one pass of the judge's kernels. `least_bound`: numbers of at least this size may
/// replace an infinity. Nothing if the kernels do not support these tensors.
std::optional<DeviatingComparison> compare_deviating(const at::Tensor& expected,
                                                     const at::Tensor& got, double tolerance,
                                                     double least_bound);

/// ‖got − expected‖ / ‖expected‖ in double precision, in chunks, on the tensors' device; infinite
/// if the result is NaN. Both must be floating tensors of one shape.
double norm_error(const at::Tensor& expected, const at::Tensor& got);

}  // namespace kbench::worker
