// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kbench/ptx.hpp"
#include "ptx/random/kernel.hpp"

namespace kbench::ptx::random {

/// All that a kernel wrote.
struct Outputs {
  std::vector<std::byte> results, own, counters;
};

/// Why a kernel could not run.
struct Failure {
  std::string message;
};

/// The memory that a kernel begins with.
Outputs first_outputs(const Kernel& kernel);

/// Runs a kernel in the executor.
std::variant<Outputs, Failure> execute(const Kernel& kernel, const Options& options);

/// Every NaN becomes one and the same.
void replace_nans(const Kernel& kernel, Outputs& outputs);

/// 64 bits of what was written, after replace_nans().
std::uint64_t hash(const Outputs& outputs);

/// A word that differs beyond the kernel's bound.
struct Difference {
  std::string where;  ///< "result 3 (f32)", "own memory at 32 (f32)", "counter 5"
  std::size_t thread = 0;
  std::uint64_t expected = 0, found = 0;
};

/// What differs; the number of words that were compared is added to `words`.
std::vector<Difference> differences(const Kernel& kernel, const Outputs& expected,
                                    const Outputs& found, std::uint64_t& words);

}  // namespace kbench::ptx::random
