// SPDX-License-Identifier: MIT
#include <algorithm>

#include "ptx/machine/arithmetic.hpp"
#include "ptx/machine/decode.hpp"
#include "ptx/machine/lanes.hpp"
#include "ptx/machine/type_switch.hpp"
#include "ptx/memory/formats.hpp"

// Conversions of two values at once, of fp8 and of tf32; cvt.pack.
namespace kbench::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

constexpr std::uint16_t kRelu = 1, kFinite = 2;
constexpr unsigned kRoundingShift = 8;

std::uint16_t take_clamps(Decode& d) {
  const bool relu = d.flag("relu");
  return static_cast<std::uint16_t>((relu ? kRelu : 0) | (d.flag("satfinite") ? kFinite : 0));
}

/// Applies .relu; NaN stays.
double positive(const Instr& in, double x) { return (in.flags & kRelu) != 0 && x <= 0 ? 0.0 : x; }

/// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half.
template <class H>
void pack_nearest(Decode& d) {
  d.lanes<u32, float, float>([](float a, float b) {
    return (static_cast<u32>(from_float<H>(a).bits) << 16) | from_float<H>(b).bits;
  });
}

/// Like pack_nearest(), for every rounding and clamp; in.imm: the type.
template <class H>
void pack_rounded(Context& c, const Instr& in) {
  const auto type = static_cast<Type>(in.imm);
  const auto rounding = static_cast<Rounding>(in.flags >> kRoundingShift);
  const auto one = [&](float f) {
    double x = positive(in, narrow(static_cast<double>(f), type, rounding));
    if ((in.flags & kFinite) != 0) x = finite(x, type);
    return u32{from_float<H>(static_cast<float>(x)).bits};
  };
  const float* a = c.source<float>(in.s[0]);
  const float* b = c.source<float>(in.s[1]);
  for_lanes(c.mask, [&](unsigned i) { c.target<u32>(in.d)[i] = (one(a[i]) << 16) | one(b[i]); });
}

void pair_from_fp8(Context& c, const Instr& in) {
  const auto type = static_cast<Type>(in.imm);
  const u16* s = c.source<u16>(in.s[0]);
  const auto one = [&](unsigned bits) {
    const Half h = from_fp8(static_cast<std::uint8_t>(bits), type);
    return u32{(in.flags & kRelu) != 0 ? half_relu(h).bits : h.bits};
  };
  for_lanes(c.mask, [&](unsigned i) {
    c.target<u32>(in.d)[i] = one(s[i] & 0xffU) | (one(s[i] >> 8U) << 16);
  });
}

/// Converts two floats, or the halves of one register, to fp8. The first operand becomes the upper
/// byte.
template <bool halves>
void fp8_pair(Context& c, const Instr& in) {
  const auto type = static_cast<Type>(in.imm);
  const auto one = [&](double x) { return static_cast<unsigned>(to_fp8(positive(in, x), type)); };
  const auto get = [&](unsigned i, bool upper) {
    if constexpr (halves) {
      return static_cast<double>(to_float(c.source<Half>(in.s[0])[2 * i + (upper ? 1 : 0)]));
    }
    return static_cast<double>(c.source<float>(in.s[upper ? 0 : 1])[i]);
  };
  for_lanes(c.mask, [&](unsigned i) {
    c.target<u16>(in.d)[i] = static_cast<u16>((one(get(i, true)) << 8) | one(get(i, false)));
  });
}

/// A float whose low 13 bits are zero. `bias` is added before truncation, to round.
u32 tf32(u32 x, u32 bias, bool away, bool relu, bool clamp) {
  const u32 magnitude = x & 0x7fffffffU;
  // On the GPU .rna is not an instruction but a sequence that ignores NaN, so NaNs are truncated.
  if (!away && magnitude > 0x7f800000U) return 0x7fffe000U;
  if (relu && (x >> 31) != 0) return 0;
  u32 rounded = (magnitude >= 0x7f800000U ? magnitude : magnitude + bias) & 0xffffe000U;
  if (clamp && rounded >= 0x7f800000U) rounded -= 0x2000U;
  return rounded | (x & 0x80000000U);
}

enum class Bias { kZero, kEven, kAway };

template <Bias bias>
void to_tf32(Decode& d, std::uint16_t clamps) {
  const bool relu = (clamps & kRelu) != 0, clamp = (clamps & kFinite) != 0;
  with_bools(
      relu, clamp,
      [&]<bool kPositive, bool kClamp>(std::bool_constant<kPositive>, std::bool_constant<kClamp>) {
        d.lanes<u32, u32>([](u32 x) {
          const u32 even = 0xfffU + ((x >> 13) & 1U);
          const u32 added = bias == Bias::kZero ? 0U : bias == Bias::kEven ? even : 0x1000U;
          return tf32(x, added, bias == Bias::kAway, kPositive, kClamp);
        });
      });
}

/// cvt.pack: clamps a and b to in.aux bits each; the low bits of c go above them.
void pack_integers(Context& c, const Instr& in) {
  const unsigned bits = in.aux;
  const bool sign = in.flags != 0;
  const s64 high = (s64{1} << (sign ? bits - 1 : bits)) - 1, low = sign ? -high - 1 : 0;
  const auto one = [&](s32 x) {
    return static_cast<u32>(std::clamp<s64>(x, low, high)) & ((1U << bits) - 1U);
  };
  const s32* a = c.source<s32>(in.s[0]);
  const s32* b = c.source<s32>(in.s[1]);
  const u32* e = c.source<u32>(in.s[2]);
  for_lanes(c.mask, [&](unsigned i) {
    const u32 rest = bits == 16 ? 0U : e[i] << (2 * bits);
    c.target<u32>(in.d)[i] = rest | (one(a[i]) << bits) | one(b[i]);
  });
}

}  // namespace

void convert_pair(Decode& d, Type to, Type from) {
  d.out.imm = static_cast<s64>(to);
  if (to == Type::kF16x2 && (from == Type::kE4m3x2 || from == Type::kE5m2x2)) {
    if (!d.flag("rn")) d.reject("the rounding is missing");
    d.plain_operands(to, {from});
    d.out.imm = static_cast<s64>(from);
    d.out.flags = d.flag("relu") ? kRelu : 0;
    return d.each(&pair_from_fp8);
  }
  if (from != Type::kF32) d.reject("the types are not supported");
  const auto rounding = take_rounding(d);
  if (rounding != Rounding::kNearest && rounding != Rounding::kZero) {
    d.reject("this rounding is not supported here");
  }
  d.plain_operands(to, {Type::kF32, Type::kF32});
  d.out.flags = static_cast<std::uint16_t>(take_clamps(d) |
                                           (static_cast<unsigned>(*rounding) << kRoundingShift));
  const bool plain = d.out.flags == 0;
  if (to == Type::kF16x2) return plain ? pack_nearest<Half>(d) : d.each(&pack_rounded<Half>);
  plain ? pack_nearest<Bfloat>(d) : d.each(&pack_rounded<Bfloat>);
}

void convert_fp8(Decode& d, Type to, Type from) {
  if (!d.flag("rn")) d.reject("this rounding is not supported here");
  d.out.imm = static_cast<s64>(to);
  d.out.flags = take_clamps(d);
  if ((d.out.flags & kFinite) == 0) d.reject("the modifier .satfinite is missing");
  if (from == Type::kF16x2) {
    d.plain_operands(to, {from});
    return d.each(&fp8_pair<true>);
  }
  if (from != Type::kF32) d.reject("the types are not supported");
  d.plain_operands(to, {from, from});
  d.each(&fp8_pair<false>);
}

void convert_tf32(Decode& d, Type from) {
  if (from != Type::kF32) d.reject("the types are not supported");
  d.plain_operands(Type::kB32, {Type::kF32});
  const bool away = d.flag("rna"), even = d.flag("rn");
  if (!away && !even && !d.flag("rz")) d.reject("this rounding is not supported");
  const std::uint16_t clamps = take_clamps(d);
  if (away) return to_tf32<Bias::kAway>(d, clamps);
  even ? to_tf32<Bias::kEven>(d, clamps) : to_tf32<Bias::kZero>(d, clamps);
}

void convert_pack(Decode& d) {
  if (!d.flag("sat")) d.reject("the modifier .sat is missing");
  static constexpr struct {
    std::string_view name;
    std::uint8_t bits;
    bool sign;
  } kKinds[] = {{"u16", 16, false}, {"s16", 16, true}, {"u8", 8, false}, {"s8", 8, true},
                {"u4", 4, false},   {"s4", 4, true},   {"u2", 2, false}, {"s2", 2, true}};
  for (const auto& kind : kKinds) {
    if (!d.flag(kind.name)) continue;
    if (!d.flag("s32")) break;
    d.out.aux = kind.bits;
    d.out.flags = kind.sign ? 1 : 0;
    if (kind.bits == 16) {
      d.plain_operands(Type::kB32, {Type::kS32, Type::kS32});
      d.out.s[2] = d.constant(0, 4);
    } else {
      if (!d.flag("b32")) break;
      d.plain_operands(Type::kB32, {Type::kS32, Type::kS32, Type::kB32});
    }
    return d.each(&pack_integers);
  }
  d.reject("the types are not supported");
}

}  // namespace kbench::ptx
