// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/arithmetic.hpp"

/// Values and roundings of floating-point formats, lane by lane.
namespace kbench::ptx {

/// The value of a lane of f16, bf16, f32 or f64; a double holds each exactly.
double load_float(const Context& c, Type type, std::uint32_t operand, unsigned lane);

/// Writes a lane. `value` must be representable in the type.
void store_float(Context& c, Type type, std::uint32_t operand, unsigned lane, double value);

/// Rounds x to f16, bf16 (packed or not) or f32. Overflow follows the rounding mode.
double narrow(double x, Type to, Rounding rounding);

/// True if x, rounded to 24 bits at any exponent, is below the normal range of f32.
bool tiny_float(double x, Rounding rounding);

/// Clamps x to the finite range of f16 or bf16; NaN stays.
double finite(double x, Type type);

/// Rounds to e4m3 or e5m2, to nearest even, clamped to the finite range. `format`: the packed type.
std::uint8_t to_fp8(double x, Type format);
/// Converts to f16, exactly; a NaN becomes the canonical one.
Half from_fp8(std::uint8_t bits, Type format);

/// Rounds x to an integer.
double round_to_integer(double x, Rounding rounding);

}  // namespace kbench::ptx
