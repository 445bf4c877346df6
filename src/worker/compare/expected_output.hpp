// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "worker/compare/compare.hpp"

namespace kbench::worker {

/// Non-finite deviations: ways in which an honest answer may differ from a non-finite expected
/// output. An enumerator's number is its bit in DeviatingComparison::deviations.
enum class Deviation {
  /// Another value instead of NaN. fmaxf and comparisons drop NaN, and code that skips zero factors
  /// never multiplies infinity by zero.
  kNanDropped,
  /// NaN or infinity instead of a finite number, or NaN instead of infinity. Examples: exp(x) / (1
  /// + exp(x)), or a product in three steps of TF32.
  kNonFiniteSpread,
  /// A large finite number of the same sign instead of infinity, such as a bound or the initial
  /// value of a maximum.
  kInfinityBounded,
};
/// A deviation and its flag in records.
struct DeviationFlag {
  Deviation deviation;
  std::string_view flag;
};
std::span<const DeviationFlag> deviation_flags();
/// A mask of the elements of `got` that deviate from `expected` in this way. Both have equal type
/// and shape.
at::Tensor deviates(Deviation kind, const at::Tensor& expected, const at::Tensor& got);

/// The expected output, and the reference's own error.
struct ExpectedOutput {
  /// The reference's answer in double precision, rounded to fp32 unless the output is wider;
  /// without one, the reference's own answer.
  at::Tensor value;
  /// The error of the reference's own answer, as Comparison::max_rel_error; none without an answer
  /// in double precision.
  std::optional<double> eager_error;
  double whole = 0;  ///< if above 0: values are integral, with this tolerance
  double slack = 1;  ///< factor of the tolerance
  /// The reference's own answer, if it is not finite in places where the exact answer is, as when
  /// sums overflow in half precision. Else undefined.
  at::Tensor overflown = {};
  /// The answer in double precision, if the reference's own answer differs from it by more than
  /// rounding, as in long sums in a half type or in TF32. A candidate that computes in a wider type
  /// is correct too.
  at::Tensor wider = {};
  bool is_exact = false;  ///< `value` was computed in double precision, and gave eager_error
  /// Some of the expected output is not finite. Honest answers may deviate there (deviates()), and
  /// settled() accepts them.
  bool non_finite = false;

  /// The relative error that a candidate may have under a row's tolerance. It exceeds the tolerance
  /// at most by a small multiple of the reference's own error.
  double allowed(double tolerance) const;

  /// Takes the candidate's elements `part` from `begin` on. Replaces those that overflow as in the
  /// reference, and non-finite deviations (deviates()), by the expected value.
  at::Tensor settled(const at::Tensor& part, std::int64_t begin = 0) const;
  /// The non-finite deviations of a candidate's answer: bit i for the i-th Deviation.
  std::uint64_t deviations(const at::Tensor& got) const;
  /// compare() of the settled() answer with `value`.
  Comparison compared(const at::Tensor& got, double tolerance,
                      const ComparisonRule& rule = comparison_rules().front()) const;
  /// wrong_pattern() of the same.
  std::optional<WrongPattern> pattern(const at::Tensor& got, double tolerance,
                                      const ComparisonRule& rule) const;

 private:
  /// settled() as compare() takes it; null if it changes nothing.
  Settle settle() const;
  std::optional<DeviatingComparison> departing(const at::Tensor& got, double tolerance) const;
};

/// The allowed relative error if integers are computed from integers without rounding: an error of
/// 0.5 in the largest element, within limits.
double whole_tolerance(const at::Tensor& value);

/// ExpectedOutput::eager_error of each output.
using EagerErrors = std::vector<std::optional<double>>;

/// The expected output for each of the reference's outputs. `exact`: the outputs in double
/// precision, or none. If there are none, the errors are those in `usual`, if given.
std::vector<ExpectedOutput> expected_outputs_of(const std::vector<at::Tensor>& outputs,
                                                const std::vector<at::Tensor>& exact,
                                                const EagerErrors& usual);

}  // namespace kbench::worker
