// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cfenv>

#include "ptx/machine/type_switch.hpp"
#include "ptx/memory/formats.hpp"

namespace kbench::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class F>
void with_register(Decode& d, unsigned bytes, F&& f) {
  with_size<u16, u32, u64>(d, bytes, f, "the register's size is not supported");
}

unsigned register_bytes(Decode& d, std::size_t i, Type type) {
  const Operand& operand = d.operand(i);
  if (operand.kind == Operand::Kind::kName && d.find_register(operand.name)) {
    return d.wide_register(operand, size_bytes(type)).bytes;
  }
  return std::max(size_bytes(type), 2U);
}

/// A bit type of the same size as a register.
Type type_of_bytes(unsigned bytes) {
  return bytes == 2 ? Type::kB16 : bytes == 4 ? Type::kB32 : Type::kB64;
}

/// Extends the value in the low bits; `shift`: the number of bits above them.
inline s64 extend(u64 x, u32 shift, bool sign) {
  const auto up = x << shift;
  return sign ? static_cast<s64>(up) >> shift : static_cast<s64>(up >> shift);
}

/// Integer to integer: extends the source from its type, then the result from its own. in.imm:
/// shift of each; in.flags: sign of each, and saturation.
struct IntegerForm {
  u32 source_shift = 0, result_shift = 0;
  bool source_signed = false, result_signed = false, saturate = false;
};

s64 saturate_integer(const IntegerForm& form, s64 x) {
  const u32 bits = 64 - form.result_shift;
  const bool negative = form.source_signed && x < 0;
  if (form.result_signed) {
    const s64 high = static_cast<s64>(~u64{0} >> (form.result_shift + 1));
    if (!negative && static_cast<u64>(x) > static_cast<u64>(high)) return high;
    return negative && x < -high - 1 ? -high - 1 : x;
  }
  if (negative) return 0;
  const u64 high = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  return static_cast<s64>(std::min(static_cast<u64>(x), high));
}

template <class D, class S>
void integer_to_integer(Context& c, const Instr& in) {
  IntegerForm form;
  form.source_shift = static_cast<u32>(in.imm & 255);
  form.result_shift = static_cast<u32>((in.imm >> 8) & 255);
  form.source_signed = (in.flags & 1) != 0;
  form.result_signed = (in.flags & 2) != 0;
  D* d = c.target<D>(in.d);
  const S* s = c.source<S>(in.s[0]);
  for_lanes(c.mask, [&](unsigned i) {
    s64 value = extend(s[i], form.source_shift, form.source_signed);
    if ((in.flags & 4) != 0) value = saturate_integer(form, value);
    const auto result = static_cast<u64>(value);
    d[i] = static_cast<D>(extend(result, form.result_shift, form.result_signed));
  });
}

void decode_integers(Decode& d, Type to, Type from) {
  const bool sat = d.flag("sat");
  const unsigned to_register = register_bytes(d, 0, to), from_register = register_bytes(d, 1, from);
  d.plain_operands(type_of_bytes(to_register), {type_of_bytes(from_register)});
  const unsigned to_bytes = size_bytes(to), from_bytes = size_bytes(from);
  const bool whole = to_bytes == to_register && from_bytes == from_register && !sat;
  if (whole && to_bytes <= from_bytes) {
    return with_register(d, to_bytes, [&]<class T>(T) {
      with_register(d, from_bytes,
                    [&]<class S>(S) { d.lanes<T, S>([](S s) { return static_cast<T>(s); }); });
    });
  }
  if (whole && from_bytes == 4) {
    if (is_signed(from)) return d.lanes<s64, s32>([](s32 s) { return s64{s}; });
    return d.lanes<u64, u32>([](u32 s) { return u64{s}; });
  }
  d.out.imm = (64 - 8 * from_bytes) | ((64 - 8 * to_bytes) << 8);
  d.out.flags = static_cast<std::uint16_t>((is_signed(from) ? 1 : 0) | (is_signed(to) ? 2 : 0) |
                                           (sat ? 4 : 0));
  with_register(d, to_register, [&]<class D>(D) {
    with_register(d, from_register, [&]<class S>(S) { d.each(&integer_to_integer<D, S>); });
  });
}

constexpr std::uint16_t kFlush = 1, kSaturate = 2, kRelu = 4, kIntegral = 8, kFinite = 16;
constexpr unsigned kRoundingShift = 8;

double clamp_float(const Instr& in, double x) {
  if ((in.flags & kSaturate) != 0) return saturate(x);
  if ((in.flags & kRelu) != 0 && x <= 0) return 0;
  return x;
}

double flush_float(double x) { return static_cast<double>(flush(static_cast<float>(x))); }

/// Converts between any floating types in any rounding; in.imm holds both types.
void float_to_float(Context& c, const Instr& in) {
  const auto from = static_cast<Type>(in.imm & 255), to = static_cast<Type>(in.imm >> 8);
  const auto rounding = static_cast<Rounding>(in.flags >> kRoundingShift);
  for_lanes(c.mask, [&](unsigned i) {
    double x = load_float(c, from, in.s[0], i);
    const bool ftz = (in.flags & kFlush) != 0;
    // The GPU does not flush inputs of conversions to f16.
    if (ftz && from == Type::kF32 && to != Type::kF16) x = flush_float(x);
    if ((in.flags & kIntegral) != 0) x = round_to_integer(x, rounding);
    if (size_bytes(to) < size_bytes(from) || from != to) {
      if (ftz && to == Type::kF32 && tiny_float(x, rounding)) x = std::copysign(0.0, x);
      if (to != Type::kF64) x = narrow(x, to, rounding);
      if ((in.flags & kFinite) != 0) x = finite(x, to);
    }
    x = clamp_float(in, x);
    if (ftz && to == Type::kF32) x = flush_float(x);
    store_float(c, to, in.d, i, x);
  });
}

struct IntegralRounding {
  std::string_view name;
  Rounding rounding;
};
constexpr IntegralRounding kIntegralRoundings[] = {{"rni", Rounding::kNearest},
                                                   {"rzi", Rounding::kZero},
                                                   {"rmi", Rounding::kDown},
                                                   {"rpi", Rounding::kUp}};

std::optional<Rounding> take_integral_rounding(Decode& d) {
  for (const auto& row : kIntegralRoundings) {
    if (d.flag(row.name)) return row.rounding;
  }
  return std::nullopt;
}

bool scalar_float(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || type == Type::kF32 || type == Type::kF64;
}

/// Common conversions as vector loops; false if the general path is needed.
bool fast_floats(Decode& d, Type to, Type from) {
  if (d.out.flags != 0) return false;
  if (to == Type::kF32 && from == Type::kF16) {
    d.lanes<float, Half>([](Half h) { return to_float(h); });
  } else if (to == Type::kF32 && from == Type::kBf16) {
    d.lanes<float, Bfloat>([](Bfloat h) { return to_float(h); });
  } else if (to == Type::kF16 && from == Type::kF32) {
    d.lanes<Half, float>([](float f) { return to_half(f); });
  } else if (to == Type::kBf16 && from == Type::kF32) {
    d.lanes<Bfloat, float>([](float f) { return to_bfloat(f); });
  } else if (to == Type::kF64 && from == Type::kF32) {
    d.lanes<double, float>([](float f) { return static_cast<double>(f); });
  } else if (to == Type::kF32 && from == Type::kF64) {
    d.lanes<float, double>([](double f) { return static_cast<float>(f); });
  } else {
    return false;
  }
  return true;
}

void decode_floats(Decode& d, Type to, Type from) {
  if (!scalar_float(to) || !scalar_float(from)) d.reject("the types are not supported");
  d.plain_operands(to, {from});
  const auto integral = take_integral_rounding(d);
  const Rounding rounding = integral ? *integral : take_rounding(d).value_or(Rounding::kNearest);
  unsigned flags = static_cast<unsigned>(rounding) << kRoundingShift;
  if (integral) flags |= kIntegral;
  if (d.flag("ftz")) flags |= kFlush;
  if (d.flag("sat")) flags |= kSaturate;
  if (d.flag("relu")) flags |= kRelu;
  if (size_bytes(to) == 2 && d.flag("satfinite")) flags |= kFinite;
  d.out.flags = static_cast<std::uint16_t>(flags);
  d.out.imm = static_cast<s64>(from) | (static_cast<s64>(to) << 8);
  if (!fast_floats(d, to, from)) d.each(&float_to_float);
}

/// Floating to integer: clamps to the type, NaN as PTX specifies. in.imm: source type; s[1], s[2]:
/// unused.
template <class I, class D>
void float_to_integer(Context& c, const Instr& in) {
  const auto from = static_cast<Type>(in.imm);
  const auto rounding = static_cast<Rounding>(in.flags >> kRoundingShift);
  constexpr double kLow = static_cast<double>(std::numeric_limits<I>::min());
  const double beyond = std::ldexp(1.0, std::numeric_limits<I>::digits);
  // A NaN gives the value with only the top bit set if either type has 64 bits, else 0.
  const bool wide = from == Type::kF64 || sizeof(I) == 8;
  const I nan = wide ? static_cast<I>(u64{1} << (8 * sizeof(I) - 1)) : I{0};
  D* d = c.target<D>(in.d);
  for_lanes(c.mask, [&](unsigned i) {
    double x = load_float(c, from, in.s[0], i);
    if ((in.flags & kFlush) != 0) x = flush_float(x);
    x = round_to_integer(x, rounding);
    I result = nan;
    if (x >= beyond) {
      result = std::numeric_limits<I>::max();
    } else if (x <= kLow) {
      result = std::numeric_limits<I>::min();
    } else if (x == x) {
      result = static_cast<I>(x);
    }
    d[i] = as_register<D>(result);
  });
}

/// Calls f for an integer type of 8 to 64 bits. A .b type has no numeric value to convert.
template <class F>
void with_number(Decode& d, Type type, F&& f) {
  if (type == Type::kU8) return f(std::uint8_t{});
  if (type == Type::kS8) return f(std::int8_t{});
  if (type <= Type::kB128) d.reject("the type is not supported");
  with_integer(d, type, f);
}

void decode_to_integer(Decode& d, Type to, Type from) {
  if (!scalar_float(from)) d.reject("the types are not supported");
  const unsigned bytes = register_bytes(d, 0, to);
  d.plain_operands(type_of_bytes(bytes), {from});
  const auto rounding = take_integral_rounding(d);
  if (!rounding) d.reject("the rounding is missing");
  unsigned flags = static_cast<unsigned>(*rounding) << kRoundingShift;
  if (d.flag("ftz")) flags |= kFlush;
  d.flag("sat");  // conversion to an integer always clamps
  d.out.flags = static_cast<std::uint16_t>(flags);
  d.out.imm = static_cast<s64>(from);
  with_number(d, to, [&]<class I>(I) {
    with_register(d, bytes, [&]<class D>(D) {
      if constexpr (sizeof(D) >= sizeof(I)) d.each(&float_to_integer<I, D>);
    });
  });
}

/// Integer to floating in any rounding; in.imm: result type.
template <class I, class S>
void integer_to_float(Context& c, const Instr& in) {
  const auto to = static_cast<Type>(in.imm);
  const auto rounding = static_cast<Rounding>(in.flags >> kRoundingShift);
  const S* s = c.source<S>(in.s[0]);
  static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  for_lanes(c.mask, [&](unsigned i) {
    const I x = static_cast<I>(s[i]);
    double value = 0;
    if (to == Type::kF64 || sizeof(I) < 8) {
      value = static_cast<double>(x);
      if (sizeof(I) == 8 && rounding != Rounding::kNearest) {
        const int before = std::fegetround();
        std::fesetround(kModes[static_cast<int>(rounding)]);
        volatile I hidden = x;
        volatile double moved = static_cast<double>(hidden);
        std::fesetround(before);
        value = moved;
      }
      if (to != Type::kF64) value = narrow(value, to, rounding);
    } else {
      // 64 bits do not fit in a double, so bits that a float cannot hold are first folded into a
      // sticky bit.
      const bool negative = x < I{0};
      u64 magnitude = negative ? 0 - static_cast<u64>(x) : static_cast<u64>(x);
      if (magnitude >> 53 != 0)
        magnitude = (magnitude & ~u64{0xfff}) | ((magnitude & 0xfff) != 0 ? 0x800 : 0);
      const double exact = static_cast<double>(magnitude);
      value = narrow(negative ? -exact : exact, to, rounding);
    }
    if ((in.flags & kSaturate) != 0) value = saturate(value);
    store_float(c, to, in.d, i, value);
  });
}

void decode_from_integer(Decode& d, Type to, Type from) {
  if (!scalar_float(to)) d.reject("the types are not supported");
  const unsigned bytes = register_bytes(d, 1, from);
  d.plain_operands(to, {type_of_bytes(bytes)});
  const auto rounding = take_rounding(d);
  if (!rounding) d.reject("the rounding is missing");
  unsigned flags = static_cast<unsigned>(*rounding) << kRoundingShift;
  if (d.flag("sat")) flags |= kSaturate;
  d.flag("ftz");  // no integer becomes a subnormal
  d.out.flags = static_cast<std::uint16_t>(flags);
  d.out.imm = static_cast<s64>(to);
  if (flags == 0 && bytes == 4 && size_bytes(from) == 4) {
    if (to == Type::kF32 && is_signed(from)) {
      return d.lanes<float, s32>([](s32 x) { return static_cast<float>(x); });
    }
    if (to == Type::kF32) return d.lanes<float, u32>([](u32 x) { return static_cast<float>(x); });
    if (to == Type::kF64 && is_signed(from)) {
      return d.lanes<double, s32>([](s32 x) { return static_cast<double>(x); });
    }
  }
  with_number(d, from, [&]<class I>(I) {
    with_register(d, bytes, [&]<class S>(S) {
      if constexpr (sizeof(S) >= sizeof(I)) d.each(&integer_to_float<I, S>);
    });
  });
}

void decode_cvt(Decode& d) {
  if (d.flag("pack")) return convert_pack(d);
  const Type to = d.type();
  const Type from = d.type();
  if (to == Type::kF16x2 || to == Type::kBf16x2) return convert_pair(d, to, from);
  if (to == Type::kE4m3x2 || to == Type::kE5m2x2) return convert_fp8(d, to, from);
  if (to == Type::kTf32) return convert_tf32(d, from);
  if (is_float(to) && is_float(from)) return decode_floats(d, to, from);
  if (is_float(from)) return decode_to_integer(d, to, from);
  if (is_float(to)) return decode_from_integer(d, to, from);
  decode_integers(d, to, from);
}

constexpr OpcodeRow kRows[] = {{"cvt", decode_cvt}};

}  // namespace

std::span<const OpcodeRow> convert_opcodes() { return kRows; }

}  // namespace kbench::ptx
