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
/// output. Their numbers are the bits of DeviatingComparison::deviations.
enum class Deviation {
  /// Another value instead of NaN. fmaxf and comparisons drop NaN, and code that skips a factor of
  /// zero does not multiply infinity by it.
  kNanDropped,
  /// NaN or infinity instead of a finite number, or NaN instead of infinity: exp(x) / (1 + exp(x)),
  /// or a product in three steps of TF32.
  kNonFiniteSpread,
  /// A large finite number of the same sign instead of infinity: the initial value of a maximum, a
  /// bound.
  kInfinityBounded,
};
/// A deviation and its flag in records.
struct DeviationFlag {
  Deviation deviation;
  std::string_view flag;
};
std::span<const DeviationFlag> deviation_flags();
/// A mask of the elements of `got` that deviate so from `expected`; of equal type and shape.
at::Tensor deviates(Deviation kind, const at::Tensor& expected, const at::Tensor& got);

/// The expected output, and the reference's own error.
struct ExpectedOutput {
  /// The reference's answer in double precision, rounded to fp32 unless the output is wider. If
  /// there is no such answer: the reference's own.
  at::Tensor value;
  /// The error of the reference's own answer, as Comparison::max_rel_error; none if there is no
  /// other answer.
  std::optional<double> eager_error;
  double whole = 0;  ///< integral: see whole_tolerance(); 0: values are rounded
  double slack = 1;  ///< factor of the tolerance
  /// The reference's own answer, if some of it is not finite although the exact one is, such as
  /// sums that overflow in half precision; else undefined.
  at::Tensor overflown = {};
  /// The answer in double precision, if the reference's own is too far from it to be a rounding of
  /// it. Examples are long sums in a half type or in TF32. A candidate that computes in a wider
  /// type is correct too.
  at::Tensor wider = {};
  bool is_exact = false;  ///< `value` was computed in double precision, and gave eager_error
  /// Some of the expected output is not finite. Honest answers may deviate there (deviates()), and
  /// settled() accepts them.
  bool non_finite = false;

  /// The relative error that a candidate may have under a row's tolerance. It exceeds the tolerance
  /// only as a small multiple of the reference's own error.
  double allowed(double tolerance) const;

  /// The candidate's elements `part` from `begin` on, in order. Replaces them by the expected value
  /// where they overflow as the reference does, and at non-finite deviations (deviates()).
  at::Tensor settled(const at::Tensor& part, std::int64_t begin = 0) const;
  /// The non-finite deviations of a candidate's answer: bit i for the i-th Deviation.
  std::uint64_t deviations(const at::Tensor& got) const;
  /// compare() of the settled() answer with `value`.
  Comparison compared(const at::Tensor& got, double tolerance,
                      const ComparisonRule& rule = comparison_rules().front()) const;

 private:
  std::optional<DeviatingComparison> departing(const at::Tensor& got, double tolerance) const;
};

/// The allowed relative error if integers are computed from integers without rounding: half of one
/// in the largest of them, within limits.
double whole_tolerance(const at::Tensor& value);

/// ExpectedOutput::eager_error of each output.
using EagerErrors = std::vector<std::optional<double>>;

/// The expected output for each of the reference's outputs. `exact`: the outputs in double
/// precision, or none; then the errors are the `usual` ones, if given.
std::vector<ExpectedOutput> expected_outputs_of(const std::vector<at::Tensor>& outputs,
                                                const std::vector<at::Tensor>& exact,
                                                const EagerErrors& usual);

}  // namespace kbench::worker
