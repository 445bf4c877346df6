// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

// Counts and checks over all elements of a tensor, in chunks, on its device. Temporaries stay
// within 64 MB.
namespace kbench::worker {

/// The number of elements with each byte equal to `value`.
std::int64_t count_filled(const at::Tensor& tensor, std::uint8_t value);
/// The number of elements whose bytes all equal `value` in one tensor and `other_value` in the
/// other, which has the same size.
std::int64_t count_filled(const at::Tensor& tensor, std::uint8_t value, const at::Tensor& other,
                          std::uint8_t other_value);

/// True if all elements are equal, or there are none.
bool is_constant(const at::Tensor& tensor);

/// The number of finite elements.
std::int64_t count_finite(const at::Tensor& tensor);

/// True if no element of the floating tensors is an infinity or a NaN.
bool all_finite(const std::vector<at::Tensor>& tensors);

/// True if there are floating tensors and all their values are integers within the range where
/// their type has every integer.
bool all_whole(const std::vector<at::Tensor>& tensors);

/// True if `tensor` is finite wherever `other`, of equal size, is.
bool finite_where(const at::Tensor& tensor, const at::Tensor& other);

/// True if both have the same bits.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

}  // namespace kbench::worker
