// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/decode.hpp"
#include "ptx/machine/lanes.hpp"

/// Decoders of rare or floating-point forms, whose opcodes live in the tables of other files.
namespace kbench::ptx {

enum class FloatOp : std::uint8_t { kAdd, kSub, kMul, kFma };

void float_arithmetic(Decode& d, FloatOp op, Type type);
void float_divide(Decode& d, Type type);
void float_min_max(Decode& d, bool maximum, Type type);
/// Decodes abs if `absolute`, else neg.
void float_sign(Decode& d, bool absolute, Type type);

/// Decodes add, or sub if `subtract`; it reads (`carry_in`) or writes the carry.
void carry_add(Decode& d, bool subtract, Type type, bool carry_in);
void carry_mad(Decode& d, Type type, bool carry_in);

/// Operations on u16x2 and s16x2.
enum class PackedOp : std::uint8_t { kAdd, kMin, kMax };
void packed_integers(Decode& d, PackedOp op, Type type);

/// Decodes mul.ftz.f32 and fma.ftz.f32; operands must be set.
void flushed_product(Decode& d, bool fma, bool saturating);

/// Decodes f16 and f16x2 operations that flush subnormals; operands must be set and .ftz taken.
void flushed_half(Decode& d, FloatOp op, Type type);
void flushed_half_sign(Decode& d, bool absolute, Type type);
/// Decodes rare, slow forms of min and max: .xorsign.abs, and .ftz of half types. Operands must be
/// set.
void unusual_min_max(Decode& d, bool maximum, Type type, bool ftz, bool nan, bool xorsign);

enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp };

/// Decodes the predicate that a comparison is combined with: takes .and, .or or .xor, and operand
/// number `operand`.
void take_combination(Decode& d, std::size_t operand);

/// Decodes set and setp of any type and form, lane by lane; operands must be set. The comparison
/// holds for the outcomes whose bits are set in `relation`: less, equal, greater, unordered (bits 0
/// to 3).
void unusual_set(Decode& d, unsigned relation, Type result, Type type);
void packed_setp(Decode& d, unsigned relation, Type type);

/// Decodes cvt to packed types and to tf32, and cvt.pack.
void convert_pair(Decode& d, Type to, Type from);
void convert_fp8(Decode& d, Type to, Type from);
void convert_tf32(Decode& d, Type from);
void convert_pack(Decode& d);

/// Takes .rn, .rz, .rm or .rp.
std::optional<Rounding> take_rounding(Decode& d);

/// Decodes exact operations in a directed rounding; they run lane by lane.
enum class RoundedOp : std::uint8_t { kAdd, kSub, kMul, kFma, kDiv, kRcp, kSqrt };
void rounded_operation(Decode& d, RoundedOp op, Type type, Rounding rounding, bool ftz, bool sat);

}  // namespace kbench::ptx
