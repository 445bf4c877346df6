// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/random/rows.hpp"

namespace kbench::ptx::random {

std::span<const Row> integer_rows();
std::span<const Row> bit_rows();
std::span<const Row> compare_rows();
std::span<const Row> move_rows();

}  // namespace kbench::ptx::random
