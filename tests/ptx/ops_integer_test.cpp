// SPDX-License-Identifier: MIT
#include <algorithm>

#include "ptx/ops_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using Wide = unsigned __int128;
using SignedWide = __int128;

TEST(Integer, addition_and_subtraction) {
  check<u32, u32, u32, u32>("add.u32 %d, %a, %b;", [](u32 a, u32 b, u32) { return a + b; });
  check<u64, u64, u64, u64>("sub.s64 %d, %a, %b;", [](u64 a, u64 b, u64) { return a - b; });
  check<u16, u16, u16, u16>("add.s16 %d, %a, %b;",
                            [](u16 a, u16 b, u16) { return static_cast<u16>(a + b); });
  const auto clamp = [](s64 x) {
    return static_cast<s32>(std::clamp<s64>(x, INT32_MIN, INT32_MAX));
  };
  check<s32, s32, s32, s32>("add.sat.s32 %d, %a, %b;",
                            [&](s32 a, s32 b, s32) { return clamp(s64{a} + b); });
  check<s32, s32, s32, s32>("sub.sat.s32 %d, %a, %b;",
                            [&](s32 a, s32 b, s32) { return clamp(s64{a} - b); });
}

TEST(Integer, carries) {
  check<u64, u64, u64, u64>(
      "{ .reg .b32 %a0, %a1, %b0, %b1; mov.b64 {%a0, %a1}, %a; mov.b64 {%b0, %b1}, %b;"
      "add.cc.u32 %a0, %a0, %b0; addc.u32 %a1, %a1, %b1; mov.b64 %d, {%a0, %a1}; }",
      [](u64 a, u64 b, u64) { return a + b; });
  check<u64, u64, u64, u64>(
      "{ .reg .b32 %a0, %a1, %b0, %b1; mov.b64 {%a0, %a1}, %a; mov.b64 {%b0, %b1}, %b;"
      "sub.cc.u32 %a0, %a0, %b0; subc.u32 %a1, %a1, %b1; mov.b64 %d, {%a0, %a1}; }",
      [](u64 a, u64 b, u64) { return a - b; });
  check<u64, u32, u32, u64>(
      "{ .reg .b32 %c0, %c1; mov.b64 {%c0, %c1}, %c; mad.lo.cc.u32 %c0, %a, %b, %c0;"
      "madc.hi.u32 %c1, %a, %b, %c1; mov.b64 %d, {%c0, %c1}; }",
      [](u32 a, u32 b, u64 c) { return u64{a} * b + c; });
}

TEST(Integer, products) {
  check<u32, u32, u32, u32>("mul.lo.s32 %d, %a, %b;", [](u32 a, u32 b, u32) { return a * b; });
  check<u16, u16, u16, u16>("mul.lo.u16 %d, %a, %b;",
                            [](u16 a, u16 b, u16) { return static_cast<u16>(u32{a} * b); });
  check<s32, s32, s32, s32>("mul.hi.s32 %d, %a, %b;",
                            [](s32 a, s32 b, s32) { return static_cast<s32>((s64{a} * b) >> 32); });
  check<u64, u64, u64, u64>("mul.hi.u64 %d, %a, %b;", [](u64 a, u64 b, u64) {
    return static_cast<u64>((Wide{a} * b) >> 64);
  });
  check<s64, s64, s64, s64>("mul.hi.s64 %d, %a, %b;", [](s64 a, s64 b, s64) {
    return static_cast<s64>((SignedWide{a} * b) >> 64);
  });
  check<s64, s32, s32, s64>("mul.wide.s32 %d, %a, %b;",
                            [](s32 a, s32 b, s64) { return s64{a} * b; });
  check<u32, u16, u16, u32>("mul.wide.u16 %d, %a, %b;",
                            [](u16 a, u16 b, u32) { return u32{a} * b; });
  check<s64, s32, s32, s64>("mad.wide.s32 %d, %a, %b, %c;", [](s32 a, s32 b, s64 c) {
    return static_cast<s64>(static_cast<u64>(s64{a} * b) + static_cast<u64>(c));
  });
  check<u32, u32, u32, u32>("mad.lo.u32 %d, %a, %b, %c;",
                            [](u32 a, u32 b, u32 c) { return a * b + c; });
  check<u32, u32, u32, u32>("mad.hi.u32 %d, %a, %b, %c;", [](u32 a, u32 b, u32 c) {
    return static_cast<u32>((u64{a} * b) >> 32) + c;
  });
  check<u32, u32, u32, u32>("mul24.lo.u32 %d, %a, %b;", [](u32 a, u32 b, u32) {
    return static_cast<u32>(u64{a & 0xffffff} * (b & 0xffffff));
  });
  check<s32, s32, s32, s32>("mul24.hi.s32 %d, %a, %b;", [](s32 a, s32 b, s32) {
    const auto low = [](s32 x) { return s64{(x & 0xffffff) ^ 0x800000} - 0x800000; };
    return static_cast<s32>((low(a) * low(b)) >> 16);
  });
}

TEST(Integer, quotients) {
  // A division by zero is not defined: those lanes are left out by making the divisor odd.
  check<u32, u32, u32, u32>("or.b32 %b, %b, 1; div.u32 %d, %a, %b;",
                            [](u32 a, u32 b, u32) { return a / (b | 1); });
  check<s32, s32, s32, s32>("or.b32 %b, %b, 1; div.s32 %d, %a, %b;",
                            [](s32 a, s32 b, s32) { return static_cast<s32>(s64{a} / (b | 1)); });
  check<s64, s64, s64, s64>("or.b64 %b, %b, 1; rem.s64 %d, %a, %b;",
                            [](s64 a, s64 b, s64) { return (b | 1) == -1 ? 0 : a % (b | 1); });
  check<s16, s16, s16, s16>("or.b16 %b, %b, 1; rem.s16 %d, %a, %b;",
                            [](s16 a, s16 b, s16) { return static_cast<s16>(a % (b | 1)); });
}

TEST(Integer, order_and_sign) {
  check<s32, s32, s32, s32>("min.s32 %d, %a, %b;",
                            [](s32 a, s32 b, s32) { return std::min(a, b); });
  check<u64, u64, u64, u64>("max.u64 %d, %a, %b;",
                            [](u64 a, u64 b, u64) { return std::max(a, b); });
  check<s16, s16, s16, s16>("max.s16 %d, %a, %b;",
                            [](s16 a, s16 b, s16) { return std::max(a, b); });
  check<u32, s32, s32, u32>("abs.s32 %d, %a;", [](s32 a, s32, u32) {
    return a < 0 ? 0U - static_cast<u32>(a) : static_cast<u32>(a);
  });
  check<u64, u64, u64, u64>("neg.s64 %d, %a;", [](u64 a, u64, u64) { return 0 - a; });
  check<u32, s32, s32, u32>("sad.s32 %d, %a, %b, %c;", [](s32 a, s32 b, u32 c) {
    return c + static_cast<u32>(a > b ? s64{a} - b : s64{b} - a);
  });
}

TEST(Integer, logic_and_shifts) {
  check<u32, u32, u32, u32>("and.b32 %d, %a, %b;", [](u32 a, u32 b, u32) { return a & b; });
  check<u64, u64, u64, u64>("xor.b64 %d, %a, %b;", [](u64 a, u64 b, u64) { return a ^ b; });
  check<u16, u16, u16, u16>("not.b16 %d, %a;",
                            [](u16 a, u16, u16) { return static_cast<u16>(~a); });
  check<u32, u32, u32, u32>("cnot.b32 %d, %a;", [](u32 a, u32, u32) { return u32{a == 0}; });
  check<u32, u32, u32, u32>("shl.b32 %d, %a, %b;",
                            [](u32 a, u32 b, u32) { return b < 32 ? a << b : 0; });
  check<u64, u64, u32, u64>("shr.u64 %d, %a, %b;",
                            [](u64 a, u32 b, u64) { return b < 64 ? a >> b : 0; });
  check<s32, s32, u32, s32>("shr.s32 %d, %a, %b;",
                            [](s32 a, u32 b, s32) { return a >> std::min(b, 31U); });
  check<s16, s16, u32, s16>("shr.s16 %d, %a, %b;", [](s16 a, u32 b, s16) {
    return static_cast<s16>(a >> std::min(b, 15U));
  });
  check<u32, u32, u32, u32>("shf.l.wrap.b32 %d, %a, %b, %c;", [](u32 a, u32 b, u32 c) {
    return static_cast<u32>((((u64{b} << 32) | a) << (c & 31)) >> 32);
  });
  check<u32, u32, u32, u32>("shf.r.clamp.b32 %d, %a, %b, %c;", [](u32 a, u32 b, u32 c) {
    return static_cast<u32>(((u64{b} << 32) | a) >> std::min(c, 32U));
  });
  for (const unsigned table : {0x96U, 0xe8U, 0xcaU, 0x01U, 0x80U}) {
    check<u32, u32, u32, u32>(
        fmt::format("lop3.b32 %d, %a, %b, %c, {:#x};", table), [table](u32 a, u32 b, u32 c) {
          u32 d = 0;
          for (unsigned i = 0; i < 32; ++i) {
            const u32 row = ((a >> i & 1) << 2) | ((b >> i & 1) << 1) | (c >> i & 1);
            d |= (table >> row & 1) << i;
          }
          return d;
        });
  }
}

TEST(Integer, bits) {
  check<u32, u32, u32, u32>("popc.b32 %d, %a;",
                            [](u32 a, u32, u32) { return u32(std::popcount(a)); });
  check<u32, u64, u32, u32>("clz.b64 %d, %a;",
                            [](u64 a, u32, u32) { return u32(std::countl_zero(a)); });
  check<u32, u32, u32, u32>("brev.b32 %d, %a;", [](u32 a, u32, u32) {
    u32 d = 0;
    for (unsigned i = 0; i < 32; ++i) d |= (a >> i & 1) << (31 - i);
    return d;
  });
  check<u32, s32, u32, u32>("bfind.s32 %d, %a;", [](s32 a, u32, u32) {
    const u32 x = a < 0 ? ~static_cast<u32>(a) : static_cast<u32>(a);
    return x == 0 ? ~0U : 31U - static_cast<u32>(std::countl_zero(x));
  });
  check<u32, u64, u32, u32>("bfind.shiftamt.u64 %d, %a;", [](u64 a, u32, u32) {
    return a == 0 ? ~0U : static_cast<u32>(std::countl_zero(a));
  });
  const auto bit = [](u64 a, u64 i) { return a >> i & 1; };
  const auto field = [&](u64 a, u64 position, u64 length, unsigned msb, bool sign) {
    // The loop of the PTX manual.
    if (msb == 31) position &= 255, length &= 255;  // the GPU looks at all bits for 64
    const bool fill = sign && length != 0 && bit(a, std::min<u64>(position + length - 1, msb));
    u64 d = 0;
    for (unsigned i = 0; i <= msb; ++i) {
      const bool inside = i < length && position + i <= msb;
      d |= u64{inside ? bit(a, position + i) : u64{fill}} << i;
    }
    return d;
  };
  check<u32, u32, u32, u32>("bfe.u32 %d, %a, %b, %c;", [&](u32 a, u32 b, u32 c) {
    return static_cast<u32>(field(a, b, c, 31, false));
  });
  check<u32, u32, u32, u32>("bfe.s32 %d, %a, %b, %c;", [&](u32 a, u32 b, u32 c) {
    return static_cast<u32>(field(a, b, c, 31, true));
  });
  check<u64, u64, u32, u32>("bfe.s64 %d, %a, %b, %c;",
                            [&](u64 a, u32 b, u32 c) { return field(a, b, c, 63, true); });
  check<u32, u32, u32, u32>("bfi.b32 %d, %a, %b, %c, 11;", [&](u32 a, u32 b, u32 c) {
    c &= 255;
    for (unsigned i = 0; i < 11 && c + i < 32; ++i) {
      b = (b & ~(1U << (c + i))) | static_cast<u32>(bit(a, i) << (c + i));
    }
    return b;
  });
  check<u32, u32, u32, u32>("prmt.b32 %d, %a, %b, %c;", [](u32 a, u32 b, u32 c) {
    u32 d = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const u32 s = c >> (4 * k) & 15;
      u32 byte = static_cast<u32>(((u64{b} << 32) | a) >> (8 * (s & 7))) & 255;
      if (s & 8) byte = byte & 128 ? 255 : 0;
      d |= byte << (8 * k);
    }
    return d;
  });
  check<u32, u32, u32, u32>("dp4a.s32.u32 %d, %a, %b, %c;", [](u32 a, u32 b, u32 c) {
    for (unsigned k = 0; k < 32; k += 8) {
      c += static_cast<u32>(static_cast<s8>(a >> k) * static_cast<u8>(b >> k));
    }
    return c;
  });
}

TEST(Integer, conversions) {
  check<s64, s32, s32, s64>("cvt.s64.s32 %d, %a;", [](s32 a, s32, s64) { return s64{a}; });
  check<u64, u32, s32, s64>("cvt.u64.u32 %d, %a;", [](u32 a, s32, s64) { return u64{a}; });
  check<u32, u64, s32, s64>("cvt.u32.u64 %d, %a;",
                            [](u64 a, s32, s64) { return static_cast<u32>(a); });
  check<s16, s16, s32, s64>("cvt.s16.s8 %d, %a;",
                            [](s16 a, s32, s64) { return s16{static_cast<s8>(a)}; });
  check<s32, s64, s32, s64>("cvt.sat.s32.s64 %d, %a;", [](s64 a, s32, s64) {
    return static_cast<s32>(std::clamp<s64>(a, INT32_MIN, INT32_MAX));
  });
  check<u32, s32, s32, s64>("cvt.sat.u8.s32 %d, %a;", [](s32 a, s32, s64) {
    return static_cast<u32>(std::clamp(a, 0, 255));
  });
  check<u32, s32, s32, s64>("cvt.sat.u32.s32 %d, %a;",
                            [](s32 a, s32, s64) { return static_cast<u32>(std::max(a, 0)); });
  check<s32, u32, s32, s64>("cvt.sat.s32.u32 %d, %a;", [](u32 a, s32, s64) {
    return static_cast<s32>(std::min<u32>(a, INT32_MAX));
  });
}

TEST(Integer, comparisons_and_selection) {
  check<u32, s32, s32, u32>("setp.lt.s32 %p, %a, %b; selp.b32 %d, %c, 7, %p;",
                            [](s32 a, s32 b, u32 c) { return a < b ? c : 7; });
  check<u32, u64, u64, u32>("setp.ge.u64 %p, %a, %b; selp.b32 %d, %c, 7, !%p;",
                            [](u64 a, u64 b, u32 c) { return !(a >= b) ? c : 7; });
  check<u32, u32, u32, u32>(
      "setp.eq.u32 %q, %c, 0; setp.lo.or.u32 %p|%q, %a, %b, !%q;"
      "selp.u32 %x, 1, 0, %p; selp.u32 %y, 2, 0, %q; or.b32 %d, %x, %y;",
      [](u32 a, u32 b, u32 c) {
        const bool r = c != 0;
        return u32{(a < b) || r} | (u32{!(a < b) || r} << 1);
      });
  check<u32, u32, u32, u32>(
      "setp.gt.u32 %p, %a, %b; setp.ne.s32 %q, %a, %c; xor.pred %p, %p, %q; not.pred %p, %p;"
      "@%p mov.u32 %d, %a; @!%p mov.u32 %d, %b;",
      [](u32 a, u32 b, u32 c) { return !((a > b) != (a != c)) ? a : b; });
  check<u32, u32, u32, s32>("slct.u32.s32 %d, %a, %b, %c;",
                            [](u32 a, u32 b, s32 c) { return c >= 0 ? a : b; });
  check<u32, s32, s32, u32>("set.le.u32.s32 %d, %a, %b;",
                            [](s32 a, s32 b, u32) { return a <= b ? ~0U : 0U; });
}

}  // namespace
}  // namespace kbench::ptx::testing
