// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "ptx/random/kernel.hpp"
#include "ptx/random/rows.hpp"

namespace kbench::ptx::random {

constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

/// A random kernel of exact instructions. With a number of `statements` it is the beginning of the
/// same kernel and gives every value that is alive: that is how the statement at fault is found.
Kernel exact_kernel(std::uint64_t seed, std::size_t statements = kWhole);

/// A kernel that applies one row to fresh inputs a few times.
Kernel row_kernel(std::uint64_t seed, const Row& row);

/// An approximate instruction and what PTX (or, where it says nothing, this executor) promises.
struct Approximation {
  std::string_view instruction;
  Kind result, operand;
  unsigned operands;
  Bound bound;
  float range;  ///< of the operand, to both sides; 0: any
};
std::span<const Approximation> approximations();

/// A kernel that applies one approximate instruction to each thread's inputs.
Kernel approximate_kernel(std::uint64_t seed, const Approximation& approximation);

/// What every kernel begins with.
constexpr std::string_view kHeader = ".version 8.3\n.target sm_90\n.address_size 64\n\n";

}  // namespace kbench::ptx::random
