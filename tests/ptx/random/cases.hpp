// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "ptx/random/generator.hpp"

namespace kbench::ptx::random {

enum class Family : std::uint8_t {
  kExact,        ///< whole kernels, bit for bit
  kRow,          ///< one kind of instruction on fresh inputs, bit for bit
  kApproximate,  ///< one approximate instruction, within its bound
};

/// A kernel by its name.
struct Case {
  Family family = Family::kExact;
  std::size_t index = 0;  ///< of the row or of the approximation
  std::uint64_t seed = 0;
};

/// "exact 17", "row 3 0", "approximate 5 0".
std::string name(const Case& c);
/// What name() gave, read back.
Case parse_case(const std::string& text);
Kernel make(const Case& c);

/// The instruction that a case is about, as the table spells it; empty for whole kernels.
std::string instruction(const Case& c);

/// `count` kernels from a seed on: every row and approximation a few times, the rest whole kernels.
std::vector<Case> cases(std::uint64_t seed, std::size_t count);

/// Those whose outputs are kept as golden data.
std::vector<Case> golden_cases();

}  // namespace kbench::ptx::random
