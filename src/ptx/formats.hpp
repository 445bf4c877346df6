// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/arithmetic.hpp"

/// Values of floating formats, and their roundings, lane by lane.
namespace kbench::ptx {

/// A lane of f16, bf16, f32 or f64, which a double holds exactly.
double load_float(const Context& c, Type type, std::uint32_t operand, unsigned lane);

/// Writes a lane; the value must be one of the type.
void store_float(Context& c, Type type, std::uint32_t operand, unsigned lane, double value);

/// The value of f16, bf16 or f32 that x is rounded to; overflow goes where the rounding says.
double narrow(double x, Type to, Rounding rounding);

/// The integer that x is rounded to.
double round_to_integer(double x, Rounding rounding);

}  // namespace kbench::ptx
