// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>

#include "ptx/machine/type_switch.hpp"

// Instructions on bytes and bit fields: prmt, bfe, bfi, bmsk, szext, fns.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

u32 permute(u32 a, u32 b, u32 selectors) {
  const u64 bytes = (u64{b} << 32) | a;
  u32 result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const u32 selector = (selectors >> (4 * k)) & 15U;
    u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7U))) & 255U;
    if ((selector & 8U) != 0) byte = (byte & 128U) != 0 ? 255U : 0U;
    result |= byte << (8 * k);
  }
  return result;
}

/// Byte selectors of the modes f4e, b4e, rc8, ecl, ecr, rc16, by the low two bits of the control.
u32 mode_selectors(u32 mode, u32 control) {
  static constexpr u32 kModes[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
      {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
      {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
  return kModes[mode][control & 3U];
}

void permute_mode(Context& c, const Instr& in) {
  u32* d = c.target<u32>(in.d);
  const u32* a = c.source<u32>(in.s[0]);
  const u32* b = c.source<u32>(in.s[1]);
  const u32* control = c.source<u32>(in.s[2]);
  for_lanes(c.mask,
            [&](unsigned i) { d[i] = permute(a[i], b[i], mode_selectors(in.aux, control[i])); });
}

void decode_prmt(Decode& d) {
  if (d.type() != Type::kB32) d.reject("the type is not supported");
  d.plain_operands(Type::kB32, {Type::kB32, Type::kB32, Type::kB32});
  std::uint8_t mode = 0;
  for (const std::string_view name : {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) {
    d.out.aux = mode++;
    if (d.flag(name)) return d.each(&permute_mode);
  }
  d.lanes<u32, u32, u32, u32>([](u32 a, u32 b, u32 s) { return permute(a, b, s); });
}

/// The GPU reads only 8 bits of position and length for 32-bit operands, all bits for 64-bit ones.
template <class T>
void limit_field(u32& position, u32& length) {
  if constexpr (sizeof(T) == 8) {
    position = std::min(position, 255U);
    length = std::min(length, 255U);
  } else {
    position &= 255U;
    length &= 255U;
  }
}

template <class T>
T extract(T a, u32 position, u32 length, bool sign) {
  constexpr u32 kBits = 8 * sizeof(T);
  limit_field<T>(position, length);
  if (length == 0) return 0;
  const u32 last = std::min(position + length - 1, kBits - 1);
  const bool fill = sign && ((a >> last) & 1U) != 0;
  T field = position < kBits ? static_cast<T>(a >> position) : T{0};
  const u32 held = position < kBits ? std::min(length, kBits - position) : 0;
  const T ones = held >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << held) - 1);
  field &= ones;
  return fill ? static_cast<T>(field | ~ones) : field;
}

void decode_bfe(Decode& d) {
  const Type type = d.type();
  d.plain_operands(type, {type, Type::kU32, Type::kU32});
  with_size<u32, u64>(d, size_bytes(type), [&]<class T>(T) {
    if (is_signed(type)) {
      d.lanes<T, T, u32, u32>([](T a, u32 p, u32 n) { return extract(a, p, n, true); });
    } else {
      d.lanes<T, T, u32, u32>([](T a, u32 p, u32 n) { return extract(a, p, n, false); });
    }
  });
}

void decode_bfi(Decode& d) {
  const Type type = d.type();
  d.plain_operands(type, {type, type, Type::kU32, Type::kU32});
  with_size<u32, u64>(d, size_bytes(type), [&]<class T>(T) {
    d.lanes<T, T, T, u32, u32>([](T a, T b, u32 position, u32 length) {
      constexpr u32 kBits = 8 * sizeof(T);
      limit_field<T>(position, length);
      if (position >= kBits || length == 0) return b;
      const T ones = length >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
      const T field = static_cast<T>(ones << position);
      return static_cast<T>((b & ~field) | (static_cast<T>(a << position) & field));
    });
  });
}

void decode_bmsk(Decode& d) {
  const bool wrap = d.flag("wrap");
  if (!wrap && !d.flag("clamp")) d.reject("one of .wrap, .clamp is missing");
  if (d.type() != Type::kB32) d.reject("the type is not supported");
  d.plain_operands(Type::kB32, {Type::kB32, Type::kB32});
  if (wrap) {
    return d.lanes<u32, u32, u32>(
        [](u32 a, u32 b) { return ((1U << (b & 31U)) - 1U) << (a & 31U); });
  }
  d.lanes<u32, u32, u32>([](u32 a, u32 b) {
    const u32 ones = b < 32 ? (1U << b) - 1U : ~0U;
    return a < 32 ? ones << a : 0U;
  });
}

/// szext: extends the low `width` bits of a. With .clamp, a width of 32 or more leaves a unchanged.
void decode_szext(Decode& d) {
  const bool wrap = d.flag("wrap");
  if (!wrap && !d.flag("clamp")) d.reject("one of .wrap, .clamp is missing");
  const Type type = d.type();
  if (type != Type::kU32 && type != Type::kS32) d.reject("the type is not supported");
  d.plain_operands(type, {type, Type::kU32});
  with_bools(wrap, is_signed(type),
             [&]<bool kWrap, bool kSign>(std::bool_constant<kWrap>, std::bool_constant<kSign>) {
               d.lanes<u32, u32, u32>([](u32 a, u32 width) {
                 const u32 kept = width & 31U;
                 const bool whole = !kWrap && width >= 32;
                 const u32 ones = (1U << kept) - 1U;
                 const bool fill = kSign && kept != 0 && ((a >> ((kept - 1U) & 31U)) & 1U) != 0;
                 const u32 cut = (a & ones) | (fill ? ~ones : 0U);
                 return whole ? a : cut;
               });
             });
}

/// Position of the n-th set bit from `base` on; upwards if n > 0, else downwards.
u32 find_nth(u32 mask, u32 base, s32 n) {
  if (n == std::numeric_limits<s32>::min()) return 0;  // INT_MIN has no magnitude on the GPU either
  if (n == 0) return base < 32 && ((mask >> base) & 1U) != 0 ? base : ~0U;
  const s32 step = n > 0 ? 1 : -1;
  u32 left = n > 0 ? static_cast<u32>(n) : 0U - static_cast<u32>(n);
  for (u32 at = base; at < 32; at += static_cast<u32>(step)) {
    if (((mask >> at) & 1U) != 0 && --left == 0) return at;
  }
  return ~0U;
}

void fns(Context& c, const Instr& in) {
  u32* d = c.target<u32>(in.d);
  const u32* mask = c.source<u32>(in.s[0]);
  const u32* base = c.source<u32>(in.s[1]);
  const s32* n = c.source<s32>(in.s[2]);
  for_lanes(c.mask, [&](unsigned i) { d[i] = find_nth(mask[i], base[i], n[i]); });
}

void decode_fns(Decode& d) {
  if (d.type() != Type::kB32) d.reject("the type is not supported");
  d.plain_operands(Type::kB32, {Type::kB32, Type::kB32, Type::kS32});
  d.each(&fns);
}

constexpr OpcodeRow kRows[] = {
    {"prmt", decode_prmt}, {"bfe", decode_bfe},     {"bfi", decode_bfi},
    {"bmsk", decode_bmsk}, {"szext", decode_szext}, {"fns", decode_fns},
};

}  // namespace

std::span<const OpcodeRow> field_opcodes() { return kRows; }

}  // namespace kbench::ptx
