// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "kbench/record.hpp"
#include "worker/compare/compare.hpp"

namespace kbench::worker {

/// Outputs with more elements get no pattern, because it would take seconds.
inline constexpr std::int64_t kMostPatternElements = std::int64_t{1} << 28;

/// The pattern of the elements that compare() counts as wrong, in chunks, on the tensors' device.
/// Nothing if none is wrong, or if the output is too large.
std::optional<WrongPattern> wrong_pattern(const at::Tensor& expected, const at::Tensor& got,
                                          double tolerance,
                                          const ComparisonRule& rule = comparison_rules().front(),
                                          const Settle& settle = nullptr);

/// "0.8 % of output 0: the last 128 elements, all nan".
std::string to_text(const WrongPattern& pattern);

}  // namespace kbench::worker
