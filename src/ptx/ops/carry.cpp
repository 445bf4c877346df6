// SPDX-License-Identifier: MIT
#include "ptx/machine/arithmetic.hpp"
#include "ptx/machine/decode.hpp"

// Extended-precision arithmetic: the carry is a predicate of the frame, "%cc".
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

/// a ± b ± carry. in.flags: reads the carry; in.aux: writes it. A subtraction writes "no borrow",
/// as on the GPU, which matters if addc follows sub.cc.
template <class T, bool subtract>
void add_with_carry(Context& c, const Instr& in) {
  T* d = c.target<T>(in.d);
  const T* a = c.source<T>(in.s[0]);
  const T* b = c.source<T>(in.s[1]);
  u32& carries = c.predicate(in.extra);
  const u32 flipped = subtract ? kAllLanes : 0U;
  const u32 before = in.flags != 0 ? carries ^ flipped : 0U;
  u32 after = 0;
  for_lanes(c.mask, [&](unsigned i) {
    const T carry = static_cast<T>((before >> i) & 1U);
    const T x = a[i], y = b[i];
    const T sum = subtract ? static_cast<T>(x - y) : static_cast<T>(x + y);
    const T result = subtract ? static_cast<T>(sum - carry) : static_cast<T>(sum + carry);
    const bool out = subtract ? x < y || sum < carry : sum < x || result < sum;
    after |= static_cast<u32>(out) << i;
    d[i] = result;
  });
  if (in.aux != 0) carries = (carries & ~c.mask) | ((after ^ flipped) & c.mask);
}

template <class T>
using WiderOf =
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, s64, u64>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>;

/// The low or high half of a·b, plus e and the carry.
template <class T, bool high>
void mad_with_carry(Context& c, const Instr& in) {
  using U = std::make_unsigned_t<T>;
  const T* a = c.source<T>(in.s[0]);
  const T* b = c.source<T>(in.s[1]);
  const U* e = c.source<U>(in.s[2]);
  U* d = c.target<U>(in.d);
  u32& carries = c.predicate(in.extra);
  const u32 before = in.flags != 0 ? carries : 0U;
  u32 after = 0;
  for_lanes(c.mask, [&](unsigned i) {
    const auto product = WiderOf<T>{a[i]} * WiderOf<T>{b[i]};
    const U half = static_cast<U>(high ? product >> (8 * sizeof(T)) : product);
    const U sum = static_cast<U>(half + e[i]);
    const U result = static_cast<U>(sum + ((before >> i) & 1U));
    after |= static_cast<u32>(sum < half || result < sum) << i;
    d[i] = result;
  });
  if (in.aux != 0) carries = (carries & ~c.mask) | after;
}

void take_carry(Decode& d, bool carry_in) {
  d.out.flags = carry_in ? 1 : 0;
  d.out.aux = d.flag("cc") ? 1 : 0;
  d.out.extra = d.find_register("%cc")->offset;
}

bool whole_words(Type type) {
  return type == Type::kU32 || type == Type::kS32 || type == Type::kU64 || type == Type::kS64;
}

template <bool high>
Execute choose_mad(Type type) {
  switch (type) {
    case Type::kU32:
      return &mad_with_carry<u32, high>;
    case Type::kS32:
      return &mad_with_carry<s32, high>;
    case Type::kU64:
      return &mad_with_carry<u64, high>;
    default:
      return &mad_with_carry<s64, high>;
  }
}

constexpr OpcodeRow kRows[] = {
    {"addc", [](Decode& d) { carry_add(d, false, d.type(), true); }},
    {"subc", [](Decode& d) { carry_add(d, true, d.type(), true); }},
    {"madc", [](Decode& d) { carry_mad(d, d.type(), true); }},
};

}  // namespace

void carry_add(Decode& d, bool subtract, Type type, bool carry_in) {
  if (!whole_words(type)) d.reject("the type is not supported with a carry");
  d.plain_operands(type, {type, type});
  take_carry(d, carry_in);
  if (size_bytes(type) == 8) {
    return d.each(subtract ? &add_with_carry<u64, true> : &add_with_carry<u64, false>);
  }
  d.each(subtract ? &add_with_carry<u32, true> : &add_with_carry<u32, false>);
}

void carry_mad(Decode& d, Type type, bool carry_in) {
  if (!whole_words(type)) d.reject("the type is not supported with a carry");
  d.plain_operands(type, {type, type, type});
  take_carry(d, carry_in);
  if (d.flag("hi")) return d.each(choose_mad<true>(type));
  if (!d.flag("lo")) d.reject("one of .lo, .hi is missing");
  d.each(choose_mad<false>(type));
}

std::span<const OpcodeRow> carry_opcodes() { return kRows; }

}  // namespace kbench::ptx
