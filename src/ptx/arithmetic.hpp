// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"

/// Floating forms of opcodes that integers have as well.
namespace kbench::ptx {

enum class FloatOp : std::uint8_t { kAdd, kSub, kMul, kFma };

void float_arithmetic(Decode& d, FloatOp op, Type type);
void float_divide(Decode& d, Type type);
void float_min_max(Decode& d, bool maximum, Type type);
/// abs where `absolute`, else neg.
void float_sign(Decode& d, bool absolute, Type type);

enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp };

/// Takes .rn, .rz, .rm or .rp.
std::optional<Rounding> take_rounding(Decode& d);

/// Exact operations in a directed rounding, lane by lane.
enum class RoundedOp : std::uint8_t { kAdd, kSub, kMul, kFma, kDiv, kRcp, kSqrt };
void rounded_operation(Decode& d, RoundedOp op, Type type, Rounding rounding, bool ftz, bool sat);

}  // namespace kbench::ptx
