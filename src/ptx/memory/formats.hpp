// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/arithmetic.hpp"

/// Values of floating formats, and their roundings, lane by lane.
namespace kbench::ptx {

/// A lane of f16, bf16, f32 or f64, which a double holds exactly.
double load_float(const Context& c, Type type, std::uint32_t operand, unsigned lane);

/// Writes a lane; the value must be one of the type.
void store_float(Context& c, Type type, std::uint32_t operand, unsigned lane, double value);

/// The value of f16, bf16 (packed or not) or f32 that x is rounded to; overflow goes where the
/// rounding says.
double narrow(double x, Type to, Rounding rounding);

/// Whether x, rounded to 24 bits whatever its exponent, lies below the normal values of f32.
bool tiny_float(double x, Rounding rounding);

/// x, or the largest finite value of f16 or bf16 with its sign where x lies beyond; NaN stays.
double finite(double x, Type type);

/// e4m3 or e5m2 (as the packed types name them), to nearest even, clamped to the finite values.
std::uint8_t to_fp8(double x, Type format);
/// The f16 of the same value; NaN is canonical.
Half from_fp8(std::uint8_t bits, Type format);

/// The integer that x is rounded to.
double round_to_integer(double x, Rounding rounding);

}  // namespace kbench::ptx
