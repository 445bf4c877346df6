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

/// Ways in which an answer departs from one that is not finite, and may be honest all the same.
/// Their numbers are those of DepartingComparison::departures.
enum class Departure {
  /// Something else in place of NaN: fmaxf and comparisons drop it, and who skips a factor of zero
  /// does not multiply infinity by it.
  kNanDropped,
  /// NaN or infinity in place of a finite number, or NaN in place of infinity: exp(x) / (1 +
  /// exp(x)), or a product in three steps of TF32.
  kNonFiniteSpread,
  /// A large finite number of its sign in place of infinity: where a maximum begins, a bound.
  kInfinityBounded,
};
/// Each with the flag that tells of it.
struct DepartureFlag {
  Departure departure;
  std::string_view flag;
};
std::span<const DepartureFlag> departure_flags();
/// Where an answer departs so from `expected`; of one type and shape.
at::Tensor departs(Departure kind, const at::Tensor& expected, const at::Tensor& got);

/// What an output should be, and how far the reference itself is from it.
struct Truth {
  /// The reference's answer in double precision, rounded to fp32 where the output is no wider;
  /// the reference's own where there is no such answer.
  at::Tensor value;
  /// Of the reference's own answer against it, as Comparison::max_rel_error; none without one.
  std::optional<double> eager_error;
  double whole = 0;  ///< see whole_tolerance(); 0: something is rounded
  double slack = 1;  ///< by which the tolerance is wider
  /// The reference's own answer where some of it is not finite although the true one is, as of sums
  /// that overflow in half precision; else undefined.
  at::Tensor overflown = {};
  /// The answer in double precision where the reference's own is too far from it to be a rounding
  /// of it, as a long sum in a half type or in TF32 is: who computes in a wider one is right as
  /// well.
  at::Tensor wider = {};
  bool is_exact = false;  ///< `value` is in double precision, and eager_error was found with it
  /// Some of it is meant to be no finite number. Honest answers differ there (departs()): where
  /// they may, settled() takes them for right.
  bool non_finite = false;

  /// The relative error that a candidate may have where a row allows that tolerance: more than
  /// that only as a small multiple of what the reference itself has.
  double allowed(double tolerance) const;

  /// What a candidate gave, with the true value where it overflows as the reference does, and where
  /// it departs() from what is not finite: of its elements from `begin` on, in order.
  at::Tensor settled(const at::Tensor& part, std::int64_t begin = 0) const;
  /// How what a candidate gave departs from the value where that is not finite: bit i for the i-th
  /// Departure.
  std::uint64_t departures(const at::Tensor& got) const;
  /// compare() of that with the value.
  Comparison compared(const at::Tensor& got, double tolerance,
                      const ComparisonRule& rule = comparison_rules().front()) const;

 private:
  std::optional<DepartingComparison> departing(const at::Tensor& got, double tolerance) const;
};

/// The relative error that is allowed where whole numbers are made of whole numbers and nothing is
/// rounded: up to half of one in the largest of them.
double whole_tolerance(const at::Tensor& value);

/// Truth::eager_error of each output.
using EagerErrors = std::vector<std::optional<double>>;

/// One for each of the reference's outputs; `exact` are those in double precision, or none: then
/// the errors are taken to be the `usual` ones, if there are any.
std::vector<Truth> truths_of(const std::vector<at::Tensor>& outputs,
                             const std::vector<at::Tensor>& exact, const EagerErrors& usual);

}  // namespace kbench::worker
