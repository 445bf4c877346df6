// SPDX-License-Identifier: MIT
#include <algorithm>

#include "ptx/machine/arithmetic.hpp"
#include "ptx/machine/type_switch.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class T>
using WiderOf = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, s32, u32>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, s64, u64>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

Type wider(Decode& d, Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    case Type::kS32:
      return Type::kS64;
    default:
      d.reject("the type is not supported with .wide");
  }
}

s32 clamp32(s64 x) {
  return static_cast<s32>(
      std::clamp<s64>(x, std::numeric_limits<s32>::min(), std::numeric_limits<s32>::max()));
}

bool is_packed(Type type) { return type == Type::kU16x2 || type == Type::kS16x2; }

bool wants_carry(const Decode& d) {
  const auto& modifiers = d.statement().modifiers;
  return std::find(modifiers.begin(), modifiers.end(), "cc") != modifiers.end();
}

template <bool subtract>
void decode_sum(Decode& d) {
  const Type type = d.type();
  if (is_float(type)) return float_arithmetic(d, subtract ? FloatOp::kSub : FloatOp::kAdd, type);
  if (wants_carry(d)) return carry_add(d, subtract, type, false);
  if (!subtract && is_packed(type)) return packed_integers(d, PackedOp::kAdd, type);
  if (d.flag("sat")) {
    d.plain_operands(type, {type, type});
    if (type != Type::kS32) d.reject("only s32 supports saturation");
    return d.lanes<s32, s32, s32>(
        [](s32 a, s32 b) { return clamp32(subtract ? s64{a} - s64{b} : s64{a} + s64{b}); });
  }
  bits_operation<2>(d, type,
                    []<class T>(T a, T b) { return static_cast<T>(subtract ? a - b : a + b); });
}

template <class T>
T multiply_high(T a, T b) {
  return static_cast<T>((static_cast<WiderOf<T>>(a) * static_cast<WiderOf<T>>(b)) >>
                        (8 * sizeof(T)));
}

/// Product whose low bits are kept; avoids overflow in C++'s promoted int.
template <class T>
T multiply_low(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
}

void decode_mul(Decode& d) {
  const Type type = d.type();
  if (is_float(type)) return float_arithmetic(d, FloatOp::kMul, type);
  if (d.flag("wide")) {
    d.plain_operands(wider(d, type), {type, type});
    return with_integer(d, type, [&]<class T>(T) {
      if constexpr (sizeof(T) < 8) {
        using W = WiderOf<T>;
        d.lanes<W, T, T>([](T a, T b) { return static_cast<W>(W{a} * W{b}); });
      }
    });
  }
  if (d.flag("hi"))
    return integer_operation<2>(d, type, []<class T>(T a, T b) { return multiply_high(a, b); });
  if (!d.flag("lo")) d.reject("one of .lo, .hi, .wide is missing");
  bits_operation<2>(d, type, []<class T>(T a, T b) { return multiply_low(a, b); });
}

void decode_mad(Decode& d) {
  const Type type = d.type();
  if (is_float(type)) return float_arithmetic(d, FloatOp::kFma, type);
  if (wants_carry(d)) return carry_mad(d, type, false);
  if (d.flag("wide")) {
    const Type wide = wider(d, type);
    d.plain_operands(wide, {type, type, wide});
    return with_integer(d, type, [&]<class T>(T) {
      if constexpr (sizeof(T) < 8) {
        using W = WiderOf<T>;
        d.lanes<W, T, T, W>([](T a, T b, W e) {
          return static_cast<W>(static_cast<u64>(W{a} * W{b}) + static_cast<u64>(e));
        });
      }
    });
  }
  if (d.flag("hi")) {
    const bool saturating = d.flag("sat");
    if (saturating && type != Type::kS32) d.reject("only s32 supports saturation");
    if (saturating) {
      d.plain_operands(type, {type, type, type});
      return d.lanes<s32, s32, s32, s32>(
          [](s32 a, s32 b, s32 e) { return clamp32(s64{multiply_high(a, b)} + s64{e}); });
    }
    return integer_operation<3>(d, type, []<class T>(T a, T b, T e) {
      return static_cast<T>(static_cast<u64>(multiply_high(a, b)) + static_cast<u64>(e));
    });
  }
  if (!d.flag("lo")) d.reject("one of .lo, .hi, .wide is missing");
  bits_operation<3>(d, type,
                    []<class T>(T a, T b, T e) { return static_cast<T>(multiply_low(a, b) + e); });
}

s64 low24(s32 x) { return static_cast<s32>(static_cast<u32>(x) << 8) >> 8; }
u64 low24(u32 x) { return x & 0xffffffU; }

template <bool add>
void decode_24(Decode& d) {
  const Type type = d.type();
  if (type != Type::kU32 && type != Type::kS32) d.reject("the type is not supported");
  const bool high = d.flag("hi");
  if (!high && !d.flag("lo")) d.reject("one of .lo, .hi is missing");
  if (add) {
    d.plain_operands(type, {type, type, type});
  } else {
    d.plain_operands(type, {type, type});
    d.out.s[2] = d.constant(0, 4);
  }
  if (add && high && type == Type::kS32 && d.flag("sat")) {
    return d.lanes<s32, s32, s32, s32>(
        [](s32 a, s32 b, s32 e) { return clamp32(((low24(a) * low24(b)) >> 16) + s64{e}); });
  }
  with_integer(d, type, [&]<class T>(T) {
    if constexpr (sizeof(T) == 4) {
      if (high) {
        d.lanes<T, T, T, T>([](T a, T b, T e) {
          return static_cast<T>(static_cast<u32>((low24(a) * low24(b)) >> 16) +
                                static_cast<u32>(e));
        });
      } else {
        d.lanes<T, T, T, T>([](T a, T b, T e) {
          return static_cast<T>(static_cast<u32>(low24(a) * low24(b)) + static_cast<u32>(e));
        });
      }
    }
  });
}

/// Division as on the GPU: quotient and remainder by zero are all ones.
template <class T>
T divide(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
  }
  return static_cast<T>(a / b);
}

template <class T>
T remainder(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

void decode_div(Decode& d) {
  const Type type = d.type();
  if (is_float(type)) return float_divide(d, type);
  integer_operation<2>(d, type, []<class T>(T a, T b) { return divide(a, b); });
}

void decode_rem(Decode& d) {
  integer_operation<2>(d, d.type(), []<class T>(T a, T b) { return remainder(a, b); });
}

template <bool maximum>
void decode_min_max(Decode& d) {
  const Type type = d.type();
  if (is_float(type)) return float_min_max(d, maximum, type);
  if (is_packed(type)) {
    return packed_integers(d, maximum ? PackedOp::kMax : PackedOp::kMin, type);
  }
  if (type == Type::kS32 && d.flag("relu")) {
    d.plain_operands(type, {type, type});
    return d.lanes<s32, s32, s32>(
        [](s32 a, s32 b) { return std::max(maximum ? std::max(a, b) : std::min(a, b), 0); });
  }
  integer_operation<2>(
      d, type, []<class T>(T a, T b) { return maximum ? (a > b ? a : b) : (a < b ? a : b); });
}

void decode_abs(Decode& d) {
  const Type type = d.type();
  if (is_float(type)) return float_sign(d, true, type);
  if (!is_signed(type)) d.reject("the type is not supported");
  integer_operation<1>(d, type, []<class T>(T a) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(a);
    return static_cast<T>(a < 0 ? 0 - bits : bits);
  });
}

void decode_neg(Decode& d) {
  const Type type = d.type();
  if (is_float(type)) return float_sign(d, false, type);
  bits_operation<1>(d, type, []<class T>(T a) { return static_cast<T>(0 - a); });
}

void decode_sad(Decode& d) {
  integer_operation<3>(d, d.type(), []<class T>(T a, T b, T e) {
    const u64 x = static_cast<u64>(a), y = static_cast<u64>(b);
    return static_cast<T>((a > b ? x - y : y - x) + static_cast<u64>(e));
  });
}

constexpr OpcodeRow kRows[] = {
    {"add", decode_sum<false>},    {"sub", decode_sum<true>},   {"mul", decode_mul},
    {"mad", decode_mad},           {"mul24", decode_24<false>}, {"mad24", decode_24<true>},
    {"div", decode_div},           {"rem", decode_rem},         {"min", decode_min_max<false>},
    {"max", decode_min_max<true>}, {"abs", decode_abs},         {"neg", decode_neg},
    {"sad", decode_sad},
};

}  // namespace

std::span<const OpcodeRow> integer_opcodes() { return kRows; }

}  // namespace kbench::ptx
