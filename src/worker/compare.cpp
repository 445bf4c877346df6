// SPDX-License-Identifier: MIT
#include "worker/compare.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kbench/kernelbench.hpp"
#include "worker/judge_kernels.hpp"

namespace kbench::worker {
namespace {

/// Elements per chunk: temporaries in double precision stay within 64 MB.
constexpr std::int64_t kChunk = 1 << 20;
/// The same where nothing is in double precision.
constexpr std::int64_t kWideChunk = 1 << 24;
/// Bytes per step where bits are compared, which takes a temporary of as many.
constexpr std::int64_t kByteChunk = 64 << 20;

/// An error that is smaller than that beside a tolerance of fp32 (so 1e-30) is none: denormals may
/// be taken for zeros, and as many of them as tensors have elements add up to no more.
constexpr double kMinScale = 1e-26;

/// In TF32 the reference itself is off by about the tolerance, and four times that is right there.
constexpr std::array<PrecisionRow, 3> kRows{
    {{"fp32", 1e-4, 1e-4, 0}, {"tf32", 1e-3, 4e-3, 5e-4}, {"fp16", 1e-2, 1e-2, 0}}};

/// By how much the largest rounding error of millions, some of small sums and some of large ones,
/// is beyond their norm: 32 were seen in TF32. One wrong element among as few as 1,600 is farther
/// off.
constexpr double kSpread = 40;

/// The suffix by which the judge's own kernels know an element type; empty for one they lack.
std::string_view kernel_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "f32";
    case at::kDouble:
      return "f64";
    case at::kHalf:
      return "f16";
    case at::kBFloat16:
      return "bf16";
    case at::kLong:
      return "i64";
    case at::kInt:
      return "i32";
    case at::kShort:
      return "i16";
    case at::kChar:
      return "i8";
    case at::kByte:
    case at::kBool:
      return "u8";
    default:
      return {};
  }
}

/// The suffix of the kernel that compares such elements; empty where there is none.
std::string pair_type(at::ScalarType expected, at::ScalarType got) {
  std::string own(kernel_type(got));
  if (expected == got) return own;
  const bool narrower = got == at::kHalf || got == at::kBFloat16;
  return expected == at::kFloat && narrower ? "f32_" + own : std::string();
}

/// The judge's own kernels, where they can take these elements.
JudgeKernels* kernels_for(const at::Tensor& tensor) {
  JudgeKernels* kernels = JudgeKernels::active();
  return tensor.numel() > 0 && !kernel_type(tensor.scalar_type()).empty() ? kernels : nullptr;
}

JudgeKernels::Data data_of(const at::Tensor& tensor) {
  return {tensor.data_ptr(), tensor.nbytes()};
}

/// Sum of the squares of the finite elements in units of `unit` squared, and their number.
std::pair<double, std::int64_t> finite_squares(const at::Tensor& flat, double unit) {
  if (JudgeKernels* kernels = kernels_for(flat)) {
    const auto squares = kernels->squares(kernel_type(flat.scalar_type()), data_of(flat),
                                          static_cast<std::uint64_t>(flat.numel()), unit);
    return {squares.sum, static_cast<std::int64_t>(squares.count)};
  }
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t begin = 0; begin < flat.numel(); begin += kChunk) {
    const auto part =
        flat.slice(0, begin, std::min(begin + kChunk, flat.numel())).to(at::kDouble) / unit;
    const auto finite = part.isfinite();
    sum += at::where(finite, part * part, at::zeros({}, part.options())).sum().item<double>();
    count += finite.sum().item<std::int64_t>();
  }
  return {sum, count};
}

/// Root mean square of the finite elements, their squares summed in units of `unit` squared.
double finite_rms(const at::Tensor& flat, double unit = 1) {
  const auto [sum, count] = finite_squares(flat, unit);
  // A scale of infinity would forgive everything: the squares of huge doubles need smaller units.
  constexpr double kHugeUnit = 0x1p600;
  if (std::isinf(sum) && unit < kHugeUnit) return finite_rms(flat, kHugeUnit);
  return count > 0 ? unit * std::sqrt(sum / static_cast<double>(count)) : 0;
}

std::string print_element(const at::Tensor& flat, std::int64_t index) {
  const auto element = flat.slice(0, index, index + 1).cpu();
  if (element.scalar_type() == at::kBool) return element.item<bool>() ? "true" : "false";
  if (!element.is_floating_point()) return fmt::format("{}", element.item<std::int64_t>());
  // The sign of a NaN says nothing.
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

struct ChunkErrors {
  at::Tensor relative;  ///< per element; infinite where NaN, Inf or an integer does not agree
  at::Tensor absolute;
  double allclose_at;  ///< of all of them
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
  // Halves, so that the sum stays finite.
  const auto bound = e.abs() / 2 + scale / 2;
  // An Inf that agrees is close, two NaN are not.
  const bool nan = e.isnan().logical_or(g.isnan()).any().item<bool>();
  const auto close = at::where(distance.eq(0).logical_or(odd), distance, distance / (e.abs() + 1));
  return {at::where(distance.eq(0).logical_or(odd), distance, distance / 2 / bound), distance,
          nan ? kInf : close.max().item<double>()};
}

at::Tensor wrong_by_scale(const at::Tensor&, const at::Tensor&, const at::Tensor& relative,
                          double tolerance) {
  return relative.gt(tolerance);
}

/// The tolerance is relative to what the candidate gave, as torch has it; NaN is never right.
at::Tensor wrong_by_allclose(const at::Tensor& expected, const at::Tensor& got, const at::Tensor&,
                             double tolerance) {
  return at::isclose(expected, got, tolerance, tolerance).logical_not();
}

constexpr std::array<ComparisonRule, 2> kRules{
    {{"scaled", wrong_by_scale, true}, {"allclose", wrong_by_allclose, false}}};

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
  const auto e = expected.contiguous().view(-1);
  const auto g = got.contiguous().view(-1);
  double error = 0;
  double whole = 0;
  for (std::int64_t begin = 0; begin < e.numel(); begin += kChunk) {
    const std::int64_t end = std::min(begin + kChunk, e.numel());
    const auto part = e.slice(0, begin, end).to(at::kDouble);
    error += (g.slice(0, begin, end).to(at::kDouble) - part).square_().sum().item<double>();
    whole += part.square().sum().item<double>();
  }
  const double ratio = std::sqrt(error / whole);
  return std::isfinite(ratio) ? ratio : std::numeric_limits<double>::infinity();
}

double tolerance_for(std::string_view precision, at::ScalarType dtype) {
  if (const auto* row = kernelbench_row(precision)) return row->tolerance;
  if (dtype == at::kHalf || dtype == at::kBFloat16) return 1e-2;
  return precision == "tf32" ? 1e-3 : 1e-4;
}

Comparison compare(const at::Tensor& expected, const at::Tensor& got, double tolerance,
                   const ComparisonRule& rule) {
  Comparison result;
  const auto e = expected.contiguous().view(-1);
  const auto g = got.contiguous().view(-1);
  const double scale = e.is_floating_point() ? std::max(finite_rms(e), kMinScale) : 0;
  const auto first_wrong = [&](std::int64_t at) {
    return WrongElement{0, multi_index(at, expected.sizes()), print_element(e, at),
                        print_element(g, at)};
  };
  const std::string types = pair_type(e.scalar_type(), g.scalar_type());
  JudgeKernels* kernels = types.empty() ? nullptr : kernels_for(e);
  if (kernels != nullptr) {
    const auto errors = kernels->compare(types, data_of(e), data_of(g),
                                         static_cast<std::uint64_t>(e.numel()), scale, tolerance);
    result.max_abs_error = errors.max_abs;
    result.max_rel_error = errors.max_rel;
    result.allclose_at = errors.allclose_at;
    if (rule.in_kernels) {
      result.wrong_elements = static_cast<std::int64_t>(errors.wrong);
      if (errors.wrong > 0)
        result.first_wrong = first_wrong(static_cast<std::int64_t>(errors.first));
      return result;
    }
  }
  const std::int64_t chunk = kernels != nullptr ? kWideChunk : kChunk;
  for (std::int64_t begin = 0; begin < e.numel(); begin += chunk) {
    const auto end = std::min(begin + chunk, e.numel());
    const auto e_part = e.slice(0, begin, end);
    const auto g_part = g.slice(0, begin, end);
    at::Tensor relative;
    if (kernels == nullptr) {
      const auto errors = errors_of(e_part, g_part, scale);
      relative = errors.relative;
      result.max_abs_error = std::max(result.max_abs_error, errors.absolute.max().item<double>());
      result.max_rel_error = std::max(result.max_rel_error, relative.max().item<double>());
      result.allclose_at = std::max(result.allclose_at, errors.allclose_at);
    }
    const auto wrong = rule.wrong(e_part, g_part, relative, tolerance);
    const auto count = wrong.sum().item<std::int64_t>();
    if (count > 0 && !result.first_wrong) {
      result.first_wrong = first_wrong(begin + wrong.to(at::kByte).argmax().item<std::int64_t>());
    }
    result.wrong_elements += count;
  }
  return result;
}

std::int64_t count_filled(const at::Tensor& tensor, std::uint8_t value) {
  const auto bytes = tensor.contiguous().view(-1).view(at::kByte);
  const auto width = static_cast<std::int64_t>(tensor.element_size());
  std::int64_t count = 0;
  for (std::int64_t begin = 0; begin < bytes.numel(); begin += kByteChunk) {
    const auto part = bytes.slice(0, begin, std::min(begin + kByteChunk, bytes.numel()));
    count += part.eq(static_cast<std::int64_t>(value))
                 .view({-1, width})
                 .all(1)
                 .sum()
                 .item<std::int64_t>();
  }
  return count;
}

bool all_finite(const std::vector<at::Tensor>& tensors) {
  return std::ranges::all_of(tensors, [](const at::Tensor& tensor) {
    if (!tensor.is_floating_point()) return true;
    const auto flat = tensor.contiguous().view(-1);
    if (kernels_for(flat) != nullptr) return finite_squares(flat, 1).second == flat.numel();
    for (std::int64_t begin = 0; begin < flat.numel(); begin += kChunk) {
      const auto part = flat.slice(0, begin, std::min(begin + kChunk, flat.numel()));
      if (!part.isfinite().all().item<bool>()) return false;
    }
    return true;
  });
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (JudgeKernels* kernels = JudgeKernels::active(); kernels != nullptr && a.numel() > 0) {
    const auto x = a.contiguous();
    const auto y = b.contiguous();
    return kernels->equal(data_of(x), data_of(y));
  }
  const auto bytes = [](const at::Tensor& t) { return t.contiguous().view(-1).view(at::kByte); };
  if (a.numel() == 0) return true;
  const auto own = bytes(a), other = bytes(b);
  for (std::int64_t begin = 0; begin < own.numel(); begin += kByteChunk) {
    const auto end = std::min(begin + kByteChunk, own.numel());
    if (!own.slice(0, begin, end).equal(other.slice(0, begin, end))) return false;
  }
  return own.numel() == other.numel();
}

}  // namespace kbench::worker
