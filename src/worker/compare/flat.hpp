// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "worker/device/judge_kernels.hpp"

// Iteration over tensors: by the judge's own kernels, or by torch's operators in chunks.
namespace kbench::worker {

/// Elements per chunk of torch's operators. Up to eight temporaries in double precision, and some
/// masks, then stay within 64 MB.
inline constexpr std::int64_t kChunk = 1 << 19;
/// Elements per chunk on the CPU, so that temporaries stay in the cache. Up to this size torch uses
/// one thread; threads that synchronize after many small steps stall if other processes use their
/// cores.
inline constexpr std::int64_t kCacheChunk = 1 << 15;
/// Elements per chunk if there are few temporaries in double precision.
inline constexpr std::int64_t kWideChunk = 1 << 20;

/// The suffix of the judge's own kernels for an element type; empty if they do not support it.
inline std::string_view kernel_type(at::ScalarType type) {
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

/// The judge's own kernels; null if there are none, or they do not support these elements.
inline JudgeKernels* kernels_for(const at::Tensor& tensor) {
  JudgeKernels* kernels = JudgeKernels::active();
  return tensor.numel() > 0 && !kernel_type(tensor.scalar_type()).empty() ? kernels : nullptr;
}

inline JudgeKernels::Data data_of(const at::Tensor& tensor) {
  return {tensor.data_ptr(), tensor.nbytes()};
}

/// The elements of a tensor in order, for any strides, without copying the whole tensor.
class Flat {
 public:
  explicit Flat(at::Tensor tensor)
      : dense_(tensor.is_contiguous()), tensor_(dense_ ? tensor.view(-1) : std::move(tensor)) {}
  const at::Tensor& tensor() const { return tensor_; }
  bool dense() const { return dense_; }
  std::int64_t numel() const { return tensor_.numel(); }
  /// A view, or a copy of at most a chunk.
  at::Tensor part(std::int64_t begin, std::int64_t end) const {
    if (dense_) return tensor_.slice(0, begin, end);
    return tensor_.take(at::arange(begin, end, tensor_.options().dtype(at::kLong)));
  }

 private:
  bool dense_;
  at::Tensor tensor_;
};

inline std::int64_t chunk_of(const at::Tensor& tensor) {
  return tensor.is_cpu() ? kCacheChunk : kChunk;
}

/// Calls `visit(begin, end)` for consecutive chunks of `count` elements.
template <typename Visit>
void for_each_chunk(std::int64_t count, std::int64_t chunk, Visit visit) {
  for (std::int64_t begin = 0; begin < count; begin += chunk)
    visit(begin, std::min(begin + chunk, count));
}

}  // namespace kbench::worker
