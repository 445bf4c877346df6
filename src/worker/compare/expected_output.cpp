// SPDX-License-Identifier: MIT
#include "worker/compare/expected_output.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kbench/error.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/compare/wrong_pattern.hpp"

namespace kbench::worker {
namespace {

/// A correct candidate's error may be this many times the reference's.
constexpr double kEagerFactor = 4;
/// In half types, this factor replaces kEagerFactor once it gives more than twice the tolerance.
constexpr double kHalfFactor = 1.5;
/// Limit of the slack in half types. They have few digits, so a larger slack would accept wrong
/// answers.
constexpr double kMostHalfSlack = 20;
/// The tolerance of fp16 and bf16 (compare.hpp).
constexpr double kHalfTolerance = 1e-2;

/// A larger error of the reference is not rounding; its own answer then becomes the expected
/// output.
double far_off(at::ScalarType type) { return type == at::kBFloat16 ? 4e-2 : 5e-3; }

/// Limits of the tolerance of integral values. Honest kernels have small errors if they multiply by
/// a reciprocal instead of dividing, or if a convolution by FFT (1.01e-6 measured) or Winograd
/// rounds.
constexpr double kMostOfWhole = 1e-5, kLeastOfWhole = 1.5e-6;
/// An error of one is wrong, so half of one is allowed.
constexpr double kHalfOfOne = 0.5;

/// The least number that kernels use for infinity, as initial value of a maximum or as mask in half
/// types: 1e4, rounded to bf16. Usual values are smaller.
constexpr double kLeastBound = 9984;
/// Elements per mask.
constexpr std::int64_t kLookedAt = 1 << 20;

constexpr std::array<DeviationFlag, 3> kDeviationFlags{
    {{Deviation::kNanDropped, "nan_dropped"},
     {Deviation::kNonFiniteSpread, "non_finite_spread"},
     {Deviation::kInfinityBounded, "infinity_bounded"}}};

ExpectedOutput expected_output_of(const at::Tensor& output, const at::Tensor& exact) {
  ExpectedOutput own{output, std::nullopt, 0, 1};
  if (!output.is_floating_point() || !exact.is_floating_point() || exact.sizes() != output.sizes())
    return own;
  // fp32 suffices for narrower outputs, because its rounding is far below any tolerance.
  const bool is_wide = output.scalar_type() == at::kDouble;
  const auto value = exact.to(is_wide ? at::kDouble : at::kFloat).contiguous();
  ExpectedOutput expected_output{value, std::nullopt, 0, 1};
  if (!all_finite({output})) expected_output.overflown = output.contiguous();
  const double error = expected_output.compared(output, 0).max_rel_error;
  if (!(error <= far_off(output.scalar_type()))) {
    own.wider = value;
    return own;
  }
  expected_output.eager_error = error;
  expected_output.is_exact = true;
  return expected_output;
}

}  // namespace

double ExpectedOutput::allowed(double tolerance) const {
  if (whole > 0) return whole;
  const double eager = kEagerFactor * eager_error.value_or(0);
  // In half types, four times the reference's error would accept wrong answers. The smaller factor
  // still accepts a candidate that rounds like the reference.
  const bool half = tolerance >= kHalfTolerance;
  const double most = std::max(2 * tolerance, kHalfFactor * eager_error.value_or(0));
  return half ? std::min(slack, kMostHalfSlack) * std::max(tolerance, std::min(eager, most))
              : slack * std::max(tolerance, eager);
}

double whole_tolerance(const at::Tensor& value) {
  if (value.numel() == 0) return kMostOfWhole;
  // The scale of compare(): an element's size plus the root mean square of all.
  const auto wide = [](const at::Tensor& one) { return one.item<double>(); };
  const auto [least, most] = at::aminmax(value);
  const double largest = std::max(-wide(least), wide(most));
  const double usual = wide(value.norm()) / std::sqrt(static_cast<double>(value.numel()));
  return std::clamp(kHalfOfOne / (largest + usual), kLeastOfWhole, kMostOfWhole);
}

std::span<const DeviationFlag> deviation_flags() { return kDeviationFlags; }

at::Tensor deviates(Deviation kind, const at::Tensor& expected, const at::Tensor& got) {
  const auto not_finite = got.isfinite().logical_not();
  switch (kind) {
    case Deviation::kNanDropped:
      return expected.isnan().logical_and(got.isnan().logical_not());
    case Deviation::kNonFiniteSpread:
      return expected.isfinite()
          .logical_and(not_finite)
          .logical_or(expected.isinf().logical_and(got.isnan()));
    case Deviation::kInfinityBounded:
      return expected.isinf()
          .logical_and(got.isfinite())
          .logical_and(got.abs().ge(kLeastBound))
          .logical_and(got.signbit().eq(expected.signbit()));
  }
  throw Error("unknown kind of non-finite deviation");
}

/// Compares in one pass, if the judge's kernels support it.
std::optional<DeviatingComparison> ExpectedOutput::departing(const at::Tensor& got,
                                                             double tolerance) const {
  if (!non_finite || overflown.defined()) return std::nullopt;
  return compare_deviating(value, got, tolerance, kLeastBound);
}

std::uint64_t ExpectedOutput::deviations(const at::Tensor& got) const {
  if (!non_finite) return 0;
  if (const auto found = departing(got, 0)) return found->deviations;
  std::uint64_t deviations = 0;
  const auto flat = got.is_contiguous() ? got.view(-1) : got.reshape(-1);
  for (std::int64_t begin = 0; begin < flat.numel(); begin += kLookedAt) {
    const auto end = std::min(begin + kLookedAt, flat.numel());
    const auto part = flat.slice(0, begin, end);
    const auto expected = value.view(-1).slice(0, begin, end);
    for (const auto& [kind, flag] : kDeviationFlags)
      if (deviates(kind, expected, part).any().item<bool>())
        deviations |= std::uint64_t{1} << static_cast<unsigned>(kind);
  }
  return deviations;
}

at::Tensor ExpectedOutput::settled(const at::Tensor& part, std::int64_t begin) const {
  const auto own = [&](const at::Tensor& tensor) {
    return tensor.view(-1).slice(0, begin, begin + part.numel()).view(part.sizes());
  };
  if (non_finite) {
    ExpectedOutput rest = *this;
    rest.non_finite = false;
    at::Tensor settled = rest.settled(part, begin);
    const auto expected = own(value);
    for (const auto& [deviation, flag] : kDeviationFlags)
      settled = at::where(deviates(deviation, expected, settled), expected.to(part.scalar_type()),
                          settled);
    return settled;
  }
  if (!overflown.defined()) return part;
  const auto eager = own(overflown);
  const auto alike = part.eq(eager).logical_or(part.isnan().logical_and(eager.isnan()));
  const auto rounded = own(value).to(part.scalar_type());
  const auto overflows = eager.isfinite().logical_not().logical_and(rounded.isfinite());
  return at::where(alike.logical_and(overflows), rounded, part);
}

Comparison ExpectedOutput::compared(const at::Tensor& got, double tolerance,
                                    const ComparisonRule& rule) const {
  if (rule.in_kernels)
    if (auto found = departing(got, tolerance)) return std::move(found->comparison);
  return compare(value, got, tolerance, rule, settle());
}

Settle ExpectedOutput::settle() const {
  if (!overflown.defined() && !non_finite) return nullptr;
  return [this](const at::Tensor& part, std::int64_t begin) { return settled(part, begin); };
}

std::optional<WrongPattern> ExpectedOutput::pattern(const at::Tensor& got, double tolerance,
                                                    const ComparisonRule& rule) const {
  auto found = wrong_pattern(value, got, tolerance, rule, settle());
  if (!found || !wider.defined()) return found;
  auto other = wrong_pattern(wider, got, tolerance, rule);
  return other && other->wrong < found->wrong ? other : found;
}

std::vector<ExpectedOutput> expected_outputs_of(const std::vector<at::Tensor>& outputs,
                                                const std::vector<at::Tensor>& exact,
                                                const EagerErrors& usual) {
  std::vector<ExpectedOutput> expected_outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    expected_outputs.push_back(
        exact.size() == outputs.size()
            ? expected_output_of(outputs[i], exact[i])
            : ExpectedOutput{outputs[i], i < usual.size() ? usual[i] : std::nullopt, 0, 1});
  return expected_outputs;
}

}  // namespace kbench::worker
