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

/// A precision row: which types its floating tensors have, and what error counts as right.
struct PrecisionRow {
  std::string_view name;
  double tolerance;  ///< relative to the output's own scale
  double named;  ///< the largest error with which one that is wrong in the run's row is named so
  /// The norm_error() with which it is as well, where no element stands out: of very many rounded
  /// elements the largest error says more about their number than about the rounding.
  double named_norm;
};

/// The strictest row that those errors of a whole answer look like; nullptr if none.
const PrecisionRow* row_looked_like(double max_rel_error, double norm_error);

/// The rows from strict to loose, as they bound a candidate's error.
std::span<const PrecisionRow> precision_rows();
/// The tolerance for a tensor of this type under the run's precision option ("native", "tf32", …).
double tolerance_for(std::string_view precision, at::ScalarType dtype);

/// By which elements are right. To add one: the function, and a row in compare.cpp.
struct ComparisonRule {
  std::string_view name;  ///< "scaled" (kbench's), "allclose" (KernelBench's)
  /// Which elements are wrong. `relative` is as Comparison::max_rel_error has it; undefined for a
  /// rule that the judge's kernels do not know, where they do the rest.
  at::Tensor (*wrong)(const at::Tensor& expected, const at::Tensor& got, const at::Tensor& relative,
                      double tolerance);
  bool in_kernels;  ///< the judge's kernels count by it
};
std::span<const ComparisonRule> comparison_rules();
/// The rule for a precision row.
const ComparisonRule& comparison_rule(std::string_view precision);

/// How one output differs from what the reference gave.
struct Comparison {
  double max_abs_error = 0;
  /// max |got − expected| / (|expected| + rms(expected)); infinite where a NaN or Inf does not
  /// agree. It bounds the norm as well: (|e| + rms)² ≤ 2 (e² + rms²), so that norm_error() is at
  /// most twice as large, and an answer whose elements are right is right in the norm.
  double max_rel_error = 0;
  /// max |got − expected| / (1 + |expected|): the least t with which allclose(rtol = t, atol = t)
  /// holds; infinite where none does, as for a NaN.
  double allclose_at = 0;
  std::int64_t wrong_elements = 0;
  std::optional<WrongElement> first_wrong;
};

/// What stands for `part` of what was given, which are its elements from `begin` on.
using Settle = std::function<at::Tensor(const at::Tensor& part, std::int64_t begin)>;

/// Compares element by element, in chunks, on the tensors' device: temporaries stay within 64 MB,
/// here and below. By the rule "scaled" integers and bools are exact, NaN must meet NaN and Inf the
/// same Inf; "allclose" is torch's. Shapes are equal by contract.
Comparison compare(const at::Tensor& expected, const at::Tensor& got, double tolerance,
                   const ComparisonRule& rule = comparison_rules().front(),
                   const Settle& settle = nullptr);

/// compare() by the rule "scaled" where some of `expected` is not finite, and what departs from it
/// (truth.hpp) is right.
struct DepartingComparison {
  Comparison comparison;
  std::uint64_t departures;  ///< bit i: there are some of the i-th kind
};
/// `least_bound`: the least number that stands for an infinity. None where the judge's kernels,
/// which make it in one go, cannot take these tensors.
std::optional<DepartingComparison> compare_departing(const at::Tensor& expected,
                                                     const at::Tensor& got, double tolerance,
                                                     double least_bound);

/// ‖got − expected‖ / ‖expected‖ in double precision, in chunks, on the tensors' device; infinite
/// where that is not a number. Floating tensors of one shape.
double norm_error(const at::Tensor& expected, const at::Tensor& got);

}  // namespace kbench::worker
