// SPDX-License-Identifier: MIT
#include "ptx/machine/arithmetic.hpp"
#include "ptx/machine/decode.hpp"
#include "ptx/machine/lanes.hpp"

// Rare types and forms of comparisons, lane by lane.
namespace kbench::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::uint16_t kCombine = 3, kFlush = 4;
constexpr u64 kTypeBits = 255;
constexpr unsigned kRelationShift = 8, kTrueShift = 16;

/// 0: less, 1: equal, 2: greater, 3: unordered.
template <class T>
unsigned outcome(T a, T b) {
  return a < b ? 0 : a == b ? 1 : a > b ? 2 : 3;
}

template <class H>
unsigned halves_outcome(const Context& c, const Instr& in, unsigned at) {
  const auto get = [&](u32 operand) {
    const H h = c.source<H>(operand)[at];
    const bool small = (in.flags & kFlush) != 0 && (h.bits & 0x7c00U) == 0;
    return small ? 0.0F : to_float(h);
  };
  return outcome(get(in.s[0]), get(in.s[1]));
}

template <class T>
unsigned plain_outcome(const Context& c, const Instr& in, unsigned at) {
  return outcome(c.source<T>(in.s[0])[at], c.source<T>(in.s[1])[at]);
}

/// Outcome of comparing the operands. `at`: index of the lane, or of the half for packed types.
unsigned compare(const Context& c, const Instr& in, unsigned at) {
  switch (static_cast<Type>(static_cast<u64>(in.imm) & kTypeBits)) {
    case Type::kB16:
    case Type::kU16:
      return plain_outcome<u16>(c, in, at);
    case Type::kS16:
      return plain_outcome<std::int16_t>(c, in, at);
    case Type::kB32:
    case Type::kU32:
      return plain_outcome<u32>(c, in, at);
    case Type::kS32:
      return plain_outcome<std::int32_t>(c, in, at);
    case Type::kB64:
    case Type::kU64:
      return plain_outcome<u64>(c, in, at);
    case Type::kS64:
      return plain_outcome<std::int64_t>(c, in, at);
    case Type::kF64:
      return plain_outcome<double>(c, in, at);
    case Type::kF32:
      if ((in.flags & kFlush) == 0) return plain_outcome<float>(c, in, at);
      return outcome(flush(c.source<float>(in.s[0])[at]), flush(c.source<float>(in.s[1])[at]));
    case Type::kF16:
    case Type::kF16x2:
      return halves_outcome<Half>(c, in, at);
    default:
      return halves_outcome<Bfloat>(c, in, at);
  }
}

/// Lanes in which the combined predicate is true.
u32 other_lanes(const Context& c, const Instr& in) {
  if ((in.flags & kCombine) == 0) return 0;
  return c.predicate_source(in.s[3]) ^ (in.aux != 0 ? kAllLanes : 0U);
}

bool holds(const Context& c, const Instr& in, unsigned at, bool other) {
  const bool value = ((static_cast<u64>(in.imm) >> kRelationShift >> compare(c, in, at)) & 1U) != 0;
  switch (static_cast<Combine>(in.flags & kCombine)) {
    case Combine::kAnd:
      return value && other;
    case Combine::kOr:
      return value || other;
    case Combine::kXor:
      return value != other;
    default:
      return value;
  }
}

/// Writes a value of type D where the comparison holds, else zero. parts: 2 for packed operands.
template <class D, unsigned parts>
void set_lanes(Context& c, const Instr& in) {
  const auto yes = static_cast<D>(static_cast<u64>(in.imm) >> kTrueShift);
  const u32 other = other_lanes(c, in);
  for_lanes(c.mask, [&](unsigned lane) {
    for (unsigned part = 0; part < parts; ++part) {
      const unsigned at = parts * lane + part;
      c.target<D>(in.d)[at] = holds(c, in, at, ((other >> lane) & 1U) != 0) ? yes : D{0};
    }
  });
}

/// Writes the results of the two halves to two predicates.
void set_predicates(Context& c, const Instr& in) {
  const u32 other = other_lanes(c, in);
  u32 low = 0, high = 0;
  for_lanes(c.mask, [&](unsigned lane) {
    const bool with = ((other >> lane) & 1U) != 0;
    low |= static_cast<u32>(holds(c, in, 2 * lane, with)) << lane;
    high |= static_cast<u32>(holds(c, in, 2 * lane + 1, with)) << lane;
  });
  const auto write = [&](u32 operand, u32 value) {
    if (operand == kNone) return;
    u32& p = c.predicate(operand);
    p = (p & ~c.mask) | value;
  };
  write(in.d, low);
  write(in.extra, high);
}

bool is_packed(Type type) { return type == Type::kF16x2 || type == Type::kBf16x2; }

/// Bits of "true" in a result of this type; packed: 16 bits for each half.
u64 true_bits(Decode& d, Type result, bool packed) {
  switch (result) {
    case Type::kU16:
    case Type::kS16:
      return 0xffff;
    case Type::kU32:
    case Type::kS32:
      return packed ? 0xffff : 0xffffffffU;
    case Type::kF16:
    case Type::kF16x2:
      return 0x3c00;
    case Type::kBf16:
    case Type::kBf16x2:
      return 0x3f80;
    case Type::kF32:
      return 0x3f800000U;
    default:
      d.reject("the type of the result is not supported");
  }
}

void take_form(Decode& d, unsigned relation, Type type, u64 yes) {
  const bool ftz = is_float(type) && type != Type::kF64 && d.flag("ftz");
  if (ftz && (type == Type::kBf16 || type == Type::kBf16x2)) d.reject("bf16 does not take .ftz");
  if (ftz) d.out.flags |= kFlush;
  d.out.imm = static_cast<std::int64_t>(static_cast<u64>(type) | (u64{relation} << kRelationShift) |
                                        (yes << kTrueShift));
}

}  // namespace

void take_combination(Decode& d, std::size_t operand) {
  const bool wanted = d.operands() > operand;
  Combine combine = Combine::kPlain;
  if (d.flag("and")) combine = Combine::kAnd;
  if (d.flag("or")) combine = Combine::kOr;
  if (d.flag("xor")) combine = Combine::kXor;
  if (wanted != (combine != Combine::kPlain)) d.reject("the operands do not match the modifiers");
  d.out.flags = static_cast<std::uint16_t>(combine);
  if (!wanted) return;
  bool negated = false;
  d.out.s[3] = d.predicate_source(d.operand(operand), negated);
  d.out.aux = negated ? 1 : 0;
}

void unusual_set(Decode& d, unsigned relation, Type result, Type type) {
  const bool packed = is_packed(type);
  take_form(d, relation, type, true_bits(d, result, packed));
  if (is_packed(result) != packed && is_packed(result)) d.reject("the types do not match");
  if (packed && size_bytes(result) != 4) d.reject("the types do not match");
  if (packed) return d.each(&set_lanes<u16, 2>);
  d.each(size_bytes(result) == 2 ? &set_lanes<u16, 1> : &set_lanes<u32, 1>);
}

void packed_setp(Decode& d, unsigned relation, Type type) {
  take_form(d, relation, type, 0);
  d.each(&set_predicates);
}

}  // namespace kbench::ptx
