// SPDX-License-Identifier: MIT
#include <algorithm>

#include "ptx/machine/arithmetic.hpp"
#include "ptx/machine/decode.hpp"

// Integers packed in words: u16x2, s16x2, dp4a, dp2a.
namespace kbench::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using s16 = std::int16_t;
using s32 = std::int32_t;

template <PackedOp op, class T, bool relu>
T half(T a, T b) {
  if constexpr (op == PackedOp::kAdd) return static_cast<T>(a + b);
  const T chosen = op == PackedOp::kMax ? std::max(a, b) : std::min(a, b);
  return relu ? std::max<T>(chosen, 0) : chosen;
}

template <PackedOp op, class T, bool relu>
void halves(Decode& d) {
  d.lanes<u32, u32, u32>([](u32 a, u32 b) {
    const T low = half<op, T, relu>(static_cast<T>(a), static_cast<T>(b));
    const T high = half<op, T, relu>(static_cast<T>(a >> 16), static_cast<T>(b >> 16));
    return static_cast<u32>(static_cast<u16>(low)) |
           (static_cast<u32>(static_cast<u16>(high)) << 16);
  });
}

template <PackedOp op>
void halves(Decode& d, Type type) {
  if (type == Type::kU16x2) return halves<op, u16, false>(d);
  if (op != PackedOp::kAdd && d.flag("relu")) return halves<op, s16, true>(d);
  halves<op, s16, false>(d);
}

/// e + Σ a_k·b_k over the bytes; A and B are the C++ types of a byte.
template <class A, class B>
u32 four_products(u32 a, u32 b, u32 e) {
  u32 sum = e;
  for (unsigned k = 0; k < 32; k += 8) {
    sum += static_cast<u32>(static_cast<s32>(static_cast<A>(a >> k)) *
                            static_cast<s32>(static_cast<B>(b >> k)));
  }
  return sum;
}

/// Products of a's halves with two bytes of b, starting at bit `first`.
template <class A, class B, unsigned first>
u32 two_products(u32 a, u32 b, u32 e) {
  const auto product = [](u32 x, u32 y) {
    return static_cast<u32>(static_cast<s32>(static_cast<A>(x)) *
                            static_cast<s32>(static_cast<B>(y)));
  };
  return e + product(a, b >> first) + product(a >> 16, b >> (first + 8));
}

/// Calls f with values that have the signedness of the two types; 32 bits hold the packed bytes.
template <class F>
void with_signs(Decode& d, F&& f) {
  const Type a = d.type();
  const Type b = d.type();
  const auto word = [](Type t) { return t == Type::kU32 || t == Type::kS32; };
  if (!word(a) || !word(b)) d.reject("the types are not supported");
  d.plain_operands(Type::kB32, {Type::kB32, Type::kB32, Type::kB32});
  if (is_signed(a)) return is_signed(b) ? f(s32{}, s32{}) : f(s32{}, u32{});
  return is_signed(b) ? f(u32{}, s32{}) : f(u32{}, u32{});
}

template <class T>
using ByteOf = std::conditional_t<std::is_signed_v<T>, std::int8_t, std::uint8_t>;
template <class T>
using HalfOf = std::conditional_t<std::is_signed_v<T>, s16, u16>;

void decode_dp4a(Decode& d) {
  with_signs(d, [&]<class A, class B>(A, B) {
    d.lanes<u32, u32, u32, u32>(
        [](u32 a, u32 b, u32 e) { return four_products<ByteOf<A>, ByteOf<B>>(a, b, e); });
  });
}

void decode_dp2a(Decode& d) {
  const bool high = d.flag("hi");
  if (!high && !d.flag("lo")) d.reject("one of .lo, .hi is missing");
  with_signs(d, [&]<class A, class B>(A, B) {
    if (high) {
      d.lanes<u32, u32, u32, u32>(
          [](u32 a, u32 b, u32 e) { return two_products<HalfOf<A>, ByteOf<B>, 16>(a, b, e); });
    } else {
      d.lanes<u32, u32, u32, u32>(
          [](u32 a, u32 b, u32 e) { return two_products<HalfOf<A>, ByteOf<B>, 0>(a, b, e); });
    }
  });
}

constexpr OpcodeRow kRows[] = {{"dp4a", decode_dp4a}, {"dp2a", decode_dp2a}};

}  // namespace

void packed_integers(Decode& d, PackedOp op, Type type) {
  d.plain_operands(type, {type, type});
  switch (op) {
    case PackedOp::kAdd:
      return halves<PackedOp::kAdd>(d, type);
    case PackedOp::kMin:
      return halves<PackedOp::kMin>(d, type);
    case PackedOp::kMax:
      return halves<PackedOp::kMax>(d, type);
  }
}

std::span<const OpcodeRow> packed_opcodes() { return kRows; }

}  // namespace kbench::ptx
