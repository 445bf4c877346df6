// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/ATen.h>

#include <limits>

namespace kbench::worker {

inline constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfF = std::numeric_limits<float>::infinity();
/// A multiple of the elements of a comparison's chunk.
inline constexpr std::int64_t kChunk = 1 << 20;

/// Expected values with a root mean square of 1.
inline at::Tensor signs(std::int64_t count) {
  return at::where(at::arange(count).remainder(2).eq(0), at::ones({count}), -at::ones({count}));
}

}  // namespace kbench::worker
