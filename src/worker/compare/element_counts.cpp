// SPDX-License-Identifier: MIT
#include "worker/compare/element_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "worker/compare/flat.hpp"

namespace kbench::worker {
namespace {

/// Words per step of a count. It limits memory, because torch makes a 64-bit integer of each
/// comparison result.
constexpr std::int64_t kWordChunk = 4 << 20;

/// Words per element: one, or several of eight bytes.
std::int64_t words_of(const at::Tensor& tensor) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(tensor.element_size()) / 8, 1);
}

/// A mask of the elements of a one-dimensional tensor whose bytes all equal `value`.
at::Tensor is_filled(const at::Tensor& part, std::uint8_t value) {
  const auto width = static_cast<std::int64_t>(part.element_size());
  const at::ScalarType word = width == 1   ? at::kChar
                              : width == 2 ? at::kShort
                              : width == 4 ? at::kInt
                                           : at::kLong;
  std::int64_t filled = 0;
  std::memset(&filled, value, sizeof filled);
  // The fill value repeated to the width of a word, sign-extended.
  const auto shift = 64 - 8 * std::min<std::int64_t>(width, 8);
  const auto same = part.view(word).eq(filled >> shift);
  const std::int64_t words = words_of(part);
  return words > 1 ? same.view({-1, words}).all(1) : same;
}

/// True if a floating tensor has only integral values that are exact in its type.
bool is_whole(const at::Tensor& tensor) {
  const at::ScalarType type = tensor.scalar_type();
  // Beyond 2^digits the type lacks some integers.
  const int digits = type == at::kHalf       ? 11
                     : type == at::kBFloat16 ? 8
                     : type == at::kFloat    ? 24
                                             : 53;
  const double most = std::ldexp(1.0, digits);
  const Flat flat(tensor);
  if (JudgeKernels* kernels = kernels_for(tensor); kernels != nullptr && flat.dense()) {
    const auto count = static_cast<std::uint64_t>(tensor.numel());
    return kernels->whole(kernel_type(type), data_of(tensor), count, most) == count;
  }
  bool whole = true;
  for_each_chunk(flat.numel(), chunk_of(tensor), [&](std::int64_t begin, std::int64_t end) {
    if (!whole) return;
    const auto part = flat.part(begin, end);
    whole = part.eq(part.round()).logical_and(part.abs().le(most)).all().item<bool>();
  });
  return whole;
}

}  // namespace

std::int64_t count_filled(const at::Tensor& tensor, std::uint8_t value) {
  const Flat flat(tensor);
  std::int64_t count = 0;
  for_each_chunk(flat.numel(), kWordChunk / words_of(tensor),
                 [&](std::int64_t begin, std::int64_t end) {
                   count += is_filled(flat.part(begin, end), value).sum().item<std::int64_t>();
                 });
  return count;
}

std::int64_t count_filled(const at::Tensor& tensor, std::uint8_t value, const at::Tensor& other,
                          std::uint8_t other_value) {
  const Flat flat(tensor), beside(other);
  std::int64_t count = 0;
  for_each_chunk(
      flat.numel(), kWordChunk / words_of(tensor), [&](std::int64_t begin, std::int64_t end) {
        const auto in_other = is_filled(beside.part(begin, end), other_value);
        const auto in_both = is_filled(flat.part(begin, end), value).logical_and_(in_other);
        count += in_both.sum().item<std::int64_t>();
      });
  return count;
}

bool is_constant(const at::Tensor& tensor) {
  const Flat flat(tensor);
  bool constant = true;
  for_each_chunk(flat.numel(), kWideChunk, [&](std::int64_t begin, std::int64_t end) {
    constant = constant && flat.part(begin, end).eq(flat.part(0, 1)).all().item<bool>();
  });
  return constant;
}

std::int64_t count_finite(const at::Tensor& tensor) {
  if (!tensor.is_floating_point()) return tensor.numel();
  const Flat flat(tensor);
  if (JudgeKernels* kernels = kernels_for(tensor); kernels != nullptr && flat.dense())
    return static_cast<std::int64_t>(kernels
                                         ->squares(kernel_type(tensor.scalar_type()),
                                                   data_of(tensor),
                                                   static_cast<std::uint64_t>(tensor.numel()), 1)
                                         .count);
  std::int64_t count = 0;
  for_each_chunk(flat.numel(), chunk_of(tensor), [&](std::int64_t begin, std::int64_t end) {
    count += flat.part(begin, end).isfinite().sum().item<std::int64_t>();
  });
  return count;
}

bool all_finite(const std::vector<at::Tensor>& tensors) {
  return std::ranges::all_of(tensors, [](const at::Tensor& tensor) {
    return !tensor.is_floating_point() || count_finite(tensor) == tensor.numel();
  });
}

bool all_whole(const std::vector<at::Tensor>& tensors) {
  bool any = false;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.is_floating_point()) continue;
    any = true;
    if (!is_whole(tensor)) return false;
  }
  return any;
}

bool finite_where(const at::Tensor& tensor, const at::Tensor& other) {
  const Flat own(tensor), beside(other);
  if (JudgeKernels* kernels = kernels_for(tensor);
      kernels != nullptr && own.dense() && beside.dense() &&
      tensor.scalar_type() == other.scalar_type() && tensor.is_floating_point())
    return kernels->odd_alone(kernel_type(tensor.scalar_type()), data_of(tensor), data_of(other),
                              static_cast<std::uint64_t>(tensor.numel())) == 0;
  bool finite = true;
  for_each_chunk(own.numel(), chunk_of(tensor), [&](std::int64_t begin, std::int64_t end) {
    const auto only_own = own.part(begin, end)
                              .isfinite()
                              .logical_not()
                              .logical_and(beside.part(begin, end).isfinite());
    finite = finite && !only_own.any().item<bool>();
  });
  return finite;
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const Flat own(a), other(b);
  if (a.numel() != b.numel() || a.nbytes() != b.nbytes()) return false;
  JudgeKernels* kernels = JudgeKernels::active();
  if (kernels != nullptr && a.numel() > 0 && own.dense() && other.dense())
    return kernels->equal(data_of(a), data_of(b));
  const auto bytes = [](const at::Tensor& part) { return part.view(at::kByte); };
  bool same = true;
  for_each_chunk(own.numel(), kWideChunk, [&](std::int64_t begin, std::int64_t end) {
    same = same && bytes(own.part(begin, end)).equal(bytes(other.part(begin, end)));
  });
  return same;
}

}  // namespace kbench::worker
