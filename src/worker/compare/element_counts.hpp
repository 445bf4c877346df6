// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

// What is to be known of all elements of a tensor, in chunks, on its device: temporaries stay
// within 64 MB.
namespace kbench::worker {

/// Elements of which each byte is `value`.
std::int64_t count_filled(const at::Tensor& tensor, std::uint8_t value);
/// Elements of which each byte is `value` in the one tensor, and `other_value` in the other one, of
/// its size.
std::int64_t count_filled(const at::Tensor& tensor, std::uint8_t value, const at::Tensor& other,
                          std::uint8_t other_value);

/// Whether all elements are equal; of no elements they are.
bool is_constant(const at::Tensor& tensor);

/// Elements that are neither an infinity nor a NaN.
std::int64_t count_finite(const at::Tensor& tensor);

/// Whether no element of floating tensors is an infinity or a NaN.
bool all_finite(const std::vector<at::Tensor>& tensors);

/// Whether there are floating tensors, and these hold whole numbers alone, each exact in its type
/// as its neighbours are.
bool all_whole(const std::vector<at::Tensor>& tensors);

/// Whether `tensor` is finite wherever `other`, of its size, is.
bool finite_where(const at::Tensor& tensor, const at::Tensor& other);

/// True where both hold the same bits.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

}  // namespace kbench::worker
