// SPDX-License-Identifier: MIT
#include "worker/compare/compare.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "score/kernelbench.hpp"
#include "worker/compare/flat.hpp"

namespace kbench::worker {
namespace {

/// Below this fraction of a tolerance, torch's allclose accepts an error despite rounding. In bf16,
/// the error and its bound together are off by 1.2 %, and the bound depends on the candidate's
/// value.
constexpr double kSurelyClose = 0.9;

/// The least scale of an output. Errors up to this times fp32's tolerance (about 1e-30) are
/// ignored, because denormals may be flushed to zero. The sum of such errors over a tensor is no
/// larger.
constexpr double kMinScale = 1e-26;

/// In TF32 the reference itself is off by about the tolerance, so four times the tolerance is still
/// correct.
constexpr std::array<PrecisionRow, 3> kRows{
    {{"fp32", 1e-4, 1e-4, 0}, {"tf32", 1e-3, 4e-3, 5e-4}, {"fp16", 1e-2, 1e-2, 0}}};

/// The largest rounding error over the norm of all errors, for millions of errors of small and
/// large sums. 32 was measured with TF32. One wrong element among 1,600 or more exceeds it.
constexpr double kSpread = 40;

/// The suffix of the kernel that compares these element types; empty if there is none.
std::string pair_type(at::ScalarType expected, at::ScalarType got) {
  std::string own(kernel_type(got));
  if (expected == got) return own;
  const bool narrower = got == at::kHalf || got == at::kBFloat16;
  return expected == at::kFloat && narrower ? "f32_" + own : std::string();
}

/// The sum of squares of the finite elements, in units of `unit` squared, and their number.
std::pair<double, std::int64_t> finite_squares(const Flat& flat, double unit) {
  if (JudgeKernels* kernels = kernels_for(flat.tensor()); kernels != nullptr && flat.dense()) {
    const auto squares =
        kernels->squares(kernel_type(flat.tensor().scalar_type()), data_of(flat.tensor()),
                         static_cast<std::uint64_t>(flat.numel()), unit);
    return {squares.sum, static_cast<std::int64_t>(squares.count)};
  }
  double sum = 0;
  std::int64_t count = 0;
  for_each_chunk(flat.numel(), chunk_of(flat.tensor()), [&](std::int64_t begin, std::int64_t end) {
    const auto part = flat.part(begin, end).to(at::kDouble) / unit;
    const auto finite = part.isfinite();
    sum += at::where(finite, part * part, at::zeros({}, part.options())).sum().item<double>();
    count += finite.sum().item<std::int64_t>();
  });
  return {sum, count};
}

/// The root mean square of the finite elements; squares are summed in units of `unit` squared.
double finite_rms(const Flat& flat, double unit = 1) {
  const auto [sum, count] = finite_squares(flat, unit);
  // Squares of huge doubles are summed in larger units. Otherwise the scale could be infinite, and
  // would accept any answer.
  constexpr double kHugeUnit = 0x1p600;
  if (std::isinf(sum) && unit < kHugeUnit) return finite_rms(flat, kHugeUnit);
  return count > 0 ? unit * std::sqrt(sum / static_cast<double>(count)) : 0;
}

std::string print_element(const Flat& flat, std::int64_t index) {
  const auto element = flat.part(index, index + 1).cpu();
  if (element.scalar_type() == at::kBool) return element.item<bool>() ? "true" : "false";
  if (!element.is_floating_point()) return fmt::format("{}", element.item<std::int64_t>());
  // The sign of a NaN has no meaning.
  if (element.isnan().item<bool>()) return "nan";
  if (element.scalar_type() == at::kDouble) return fmt::format("{}", element.item<double>());
  return fmt::format("{}", element.to(at::kFloat).item<float>());
}

std::vector<std::int64_t> multi_index(std::int64_t flat, at::IntArrayRef sizes) {
  std::vector<std::int64_t> index(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    index[i] = flat % sizes[i];
    flat /= sizes[i];
  }
  return index;
}

/// The errors of some elements, as in Comparison. `first`: the first wrong element, if any.
struct Errors {
  std::int64_t wrong, first;
  double max_abs, max_rel, allclose_at;
  std::uint64_t deviations = 0;  ///< as in DeviatingComparison
};

/// The number of wrong elements, and the first of them.
std::pair<std::int64_t, std::int64_t> counted(const at::Tensor& wrong) {
  const auto count = wrong.sum().item<std::int64_t>();
  return {count, count > 0 ? wrong.to(at::kByte).argmax().item<std::int64_t>() : 0};
}

struct ChunkErrors {
  at::Tensor relative;  ///< per element; infinite if NaN, Inf or integers differ
  at::Tensor absolute;
  double allclose_at;  ///< over all elements
};

ChunkErrors errors_of(const at::Tensor& expected, const at::Tensor& got, double scale) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (!expected.is_floating_point()) {
    const auto differ = expected.ne(got);
    const auto e = expected.to(at::kDouble);
    const auto distance = (e - got.to(at::kDouble)).abs();
    return {at::where(differ, at::full({}, kInf, distance.options()),
                      at::zeros({}, distance.options())),
            distance, (distance / (e.abs() + 1)).max().item<double>()};
  }
  const auto e = expected.to(at::kDouble);
  const auto g = got.to(at::kDouble);
  const auto zero = at::zeros({}, e.options());
  const auto agree = e.eq(g).logical_or(e.isnan().logical_and(g.isnan()));
  auto distance = at::where(agree, zero, (g - e).abs());
  const auto odd =
      e.isfinite().logical_and(g.isfinite()).logical_not().logical_and(agree.logical_not());
  distance = at::where(odd, at::full({}, kInf, e.options()), distance);
  // Both terms are halved, so that the sum stays finite.
  const auto bound = e.abs() / 2 + scale / 2;
  // An equal Inf is close; two NaN are not.
  const bool nan = e.isnan().logical_or(g.isnan()).any().item<bool>();
  const auto close = at::where(distance.eq(0).logical_or(odd), distance, distance / (e.abs() + 1));
  return {at::where(distance.eq(0).logical_or(odd), distance, distance / 2 / bound), distance,
          nan ? kInf : close.max().item<double>()};
}

at::Tensor wrong_by_scale(const at::Tensor&, const at::Tensor&, const at::Tensor& relative,
                          double tolerance) {
  return relative.gt(tolerance);
}

/// The tolerance is relative to the candidate's value, as in torch. NaN is never correct.
at::Tensor wrong_by_allclose(const at::Tensor& expected, const at::Tensor& got, const at::Tensor&,
                             double tolerance) {
  return at::isclose(expected, got, tolerance, tolerance).logical_not();
}

constexpr std::array<ComparisonRule, 2> kRules{
    {{"scaled", wrong_by_scale, true}, {"allclose", wrong_by_allclose, false}}};

/// Computes errors by torch's operators, which need temporaries.
Errors errors_by_torch(const at::Tensor& expected, const at::Tensor& got, double scale,
                       double tolerance, const ComparisonRule& rule) {
  const auto errors = errors_of(expected, got, scale);
  const double max_abs = errors.absolute.max().item<double>();
  const double max_rel = errors.relative.max().item<double>();
  const auto [count, first] = counted(rule.wrong(expected, got, errors.relative, tolerance));
  return {count, first, max_abs, max_rel, errors.allclose_at, 0};
}

/// Computes errors of contiguous elements by the judge's kernels; nothing if no kernel supports the
/// types. Counts no wrong elements for a rule that the kernels do not know.
std::optional<Errors> errors_by_kernels(const at::Tensor& expected, const at::Tensor& got,
                                        double scale, double tolerance, const ComparisonRule& rule,
                                        double least_bound = 0) {
  const std::string types = pair_type(expected.scalar_type(), got.scalar_type());
  JudgeKernels* kernels = types.empty() ? nullptr : kernels_for(expected);
  if (kernels == nullptr) return std::nullopt;
  const auto errors =
      kernels->compare(types, data_of(expected), data_of(got),
                       static_cast<std::uint64_t>(expected.numel()), scale, tolerance, least_bound);
  const bool count = rule.in_kernels && errors.wrong > 0;
  return Errors{count ? static_cast<std::int64_t>(errors.wrong) : 0,
                count ? static_cast<std::int64_t>(errors.first) : 0,
                errors.max_abs,
                errors.max_rel,
                errors.allclose_at,
                errors.deviations};
}

/// Two tensors, and the errors found so far.
class Pair {
 public:
  Pair(const at::Tensor& reference, const at::Tensor& given)
      : expected(reference),
        got(given),
        scale(reference.is_floating_point() ? std::max(finite_rms(expected), kMinScale) : 0),
        sizes_(reference.sizes()) {}
  bool dense() const { return expected.dense() && got.dense(); }
  void add(const Errors& errors, std::int64_t begin) {
    result.max_abs_error = std::max(result.max_abs_error, errors.max_abs);
    result.max_rel_error = std::max(result.max_rel_error, errors.max_rel);
    result.allclose_at = std::max(result.allclose_at, errors.allclose_at);
    add_wrong(errors.wrong, begin + errors.first);
  }
  void add_wrong(std::int64_t count, std::int64_t first) {
    if (count > 0 && !result.first_wrong)
      result.first_wrong = {0, multi_index(first, sizes_), print_element(expected, first),
                            print_element(got, first)};
    result.wrong_elements += count;
  }

  const Flat expected, got;
  const double scale;
  Comparison result;

 private:
  at::IntArrayRef sizes_;
};

}  // namespace

std::span<const ComparisonRule> comparison_rules() { return kRules; }

const ComparisonRule& comparison_rule(std::string_view precision) {
  return kRules[kernelbench_row(precision) == nullptr ? 0 : 1];
}

std::span<const PrecisionRow> precision_rows() { return kRows; }

const PrecisionRow* row_looked_like(double max_rel_error, double norm_error) {
  const auto row = std::ranges::find_if(kRows, [&](const PrecisionRow& known) {
    return max_rel_error <= known.named ||
           (norm_error <= known.named_norm && max_rel_error <= kSpread * norm_error);
  });
  return row == kRows.end() ? nullptr : &*row;
}

double norm_error(const at::Tensor& expected, const at::Tensor& got) {
  const Flat e(expected), g(got);
  double error = 0;
  double whole = 0;
  for_each_chunk(e.numel(), chunk_of(expected), [&](std::int64_t begin, std::int64_t end) {
    const auto part = e.part(begin, end).to(at::kDouble);
    error += (g.part(begin, end).to(at::kDouble) - part).square_().sum().item<double>();
    whole += part.square().sum().item<double>();
  });
  const double ratio = std::sqrt(error / whole);
  return std::isfinite(ratio) ? ratio : std::numeric_limits<double>::infinity();
}

double tolerance_for(std::string_view precision, at::ScalarType dtype) {
  if (const auto* row = kernelbench_row(precision)) return row->tolerance;
  if (dtype == at::kHalf || dtype == at::kBFloat16) return 1e-2;
  return precision == "tf32" ? 1e-3 : 1e-4;
}

Comparison compare(const at::Tensor& expected, const at::Tensor& got, double tolerance,
                   const ComparisonRule& rule, const Settle& settle) {
  Pair pair(expected, got);
  const Flat& e = pair.expected;
  const Flat& g = pair.got;
  // The judge's kernels compare dense tensors in one pass without temporaries.
  if (pair.dense() && !settle)
    if (const auto errors =
            errors_by_kernels(e.tensor(), g.tensor(), pair.scale, tolerance, rule)) {
      pair.add(*errors, 0);
      if (rule.in_kernels || pair.result.allclose_at < kSurelyClose * tolerance) return pair.result;
      for_each_chunk(e.numel(), kWideChunk, [&](std::int64_t begin, std::int64_t end) {
        const auto wrong = rule.wrong(e.part(begin, end), g.part(begin, end), {}, tolerance);
        const auto [count, first] = counted(wrong);
        pair.add_wrong(count, begin + first);
      });
      return pair.result;
    }
  for_each_chunk(e.numel(), chunk_of(expected), [&](std::int64_t begin, std::int64_t end) {
    const at::Tensor e_part = e.part(begin, end);
    at::Tensor g_part = g.part(begin, end);
    if (settle) g_part = settle(g_part, begin);
    const auto errors = rule.in_kernels
                            ? errors_by_kernels(e_part, g_part, pair.scale, tolerance, rule)
                            : std::nullopt;
    pair.add(errors ? *errors : errors_by_torch(e_part, g_part, pair.scale, tolerance, rule),
             begin);
  });
  return pair.result;
}

void visit_wrong(const at::Tensor& expected, const at::Tensor& got, double tolerance,
                 const ComparisonRule& rule, const Settle& settle,
                 const std::function<void(const WrongChunk&)>& visit) {
  const Pair pair(expected, got);
  for_each_chunk(expected.numel(), chunk_of(expected), [&](std::int64_t begin, std::int64_t end) {
    const at::Tensor e = pair.expected.part(begin, end);
    at::Tensor g = pair.got.part(begin, end);
    if (settle) g = settle(g, begin);
    const at::Tensor relative = errors_of(e, g, pair.scale).relative;
    const at::Tensor wrong = rule.wrong(e, g, relative, tolerance);
    if (wrong.any().item<bool>()) visit({begin, e, g, wrong, pair.scale});
  });
}

std::optional<DeviatingComparison> compare_deviating(const at::Tensor& expected,
                                                     const at::Tensor& got, double tolerance,
                                                     double least_bound) {
  Pair pair(expected, got);
  if (!pair.dense()) return std::nullopt;
  const auto errors = errors_by_kernels(pair.expected.tensor(), pair.got.tensor(), pair.scale,
                                        tolerance, comparison_rules().front(), least_bound);
  if (!errors) return std::nullopt;
  pair.add(*errors, 0);
  return DeviatingComparison{std::move(pair.result), errors->deviations};
}

}  // namespace kbench::worker
