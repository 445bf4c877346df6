// SPDX-License-Identifier: MIT
#include "ptx/exact.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace kbench::ptx::testing {
namespace {

using u64 = std::uint64_t;

int highest_bit(Wide m) {
  const u64 high = static_cast<u64>(m >> 64);
  if (high != 0) return 127 - std::countl_zero(high);
  return 63 - std::countl_zero(static_cast<u64>(m));
}

/// The same value with its highest bit at `bit`; what falls out on the right is sticky.
Exact aligned(Exact x, int bit) {
  const int shift = bit - highest_bit(x.m);
  x.e -= shift;
  if (shift >= 0) {
    x.m <<= shift;
  } else {
    x.sticky = x.sticky || (x.m & ((Wide{1} << -shift) - 1)) != 0;
    x.m >>= -shift;
  }
  return x;
}

/// Shifted to the exponent e, which is no smaller.
Exact shifted(Exact x, int e) {
  const int shift = e - x.e;
  if (shift >= 128) {
    x.sticky = x.sticky || x.m != 0;
    x.m = 0;
  } else if (shift > 0) {
    x.sticky = x.sticky || (x.m & ((Wide{1} << shift) - 1)) != 0;
    x.m >>= shift;
  }
  x.e = e;
  return x;
}

Exact special(Exact::Kind kind, bool negative) {
  Exact x;
  x.kind = kind;
  x.negative = negative;
  return x;
}

/// m/2^shift to an integer; `more` tells of bits below.
Wide divided(Wide m, int shift, bool more, bool negative, Mode mode) {
  Wide whole = shift >= 128 ? 0 : m >> shift;
  const Wide rest = shift >= 128 ? m : m & ((Wide{1} << shift) - 1);
  const Wide half = shift == 0 || shift > 128 ? 0 : Wide{1} << (shift - 1);
  const bool inexact = rest != 0 || more;
  bool up = false;
  if (mode == Mode::kDown) up = inexact && negative;
  if (mode == Mode::kUp) up = inexact && !negative;
  if (half != 0 && (mode == Mode::kNearest || mode == Mode::kAway)) {
    const bool tie = rest == half && !more;
    up =
        rest > half || (rest == half && more) || (tie && (mode == Mode::kAway || (whole & 1) != 0));
  }
  return up ? whole + 1 : whole;
}

/// Whether x lies below the normal values when it is rounded whatever its exponent.
bool below_normal(const Exact& x, const Format& format, Mode mode) {
  if (x.m == 0) return true;
  const Exact wide = aligned(x, 126);
  const int fraction = static_cast<int>(format.fraction);
  const Wide whole = divided(wide.m, 126 - fraction, wide.sticky, x.negative, mode);
  const int exponent = wide.e + 126 + ((whole >> (fraction + 1)) != 0 ? 1 : 0);
  return exponent < 1 - format.bias();
}

}  // namespace

Format format_of(const std::string& type) {
  const auto ieee = [](unsigned fraction, unsigned exponent) {
    const u64 infinity = ((u64{1} << exponent) - 1) << fraction;
    return Format{fraction, exponent, infinity - 1, infinity};
  };
  if (type == "f16") return ieee(10, 5);
  if (type == "bf16") return ieee(7, 8);
  if (type == "tf32") return ieee(10, 8);
  if (type == "f32") return ieee(23, 8);
  if (type == "e5m2") return ieee(2, 5);
  if (type == "e4m3") return {3, 4, 0x7e, 0x7e};  // no infinity: what lies above is NaN
  return ieee(52, 11);
}

Exact exact(const Format& format, u64 bits, bool flush) {
  const bool negative = ((bits >> format.sign_bit()) & 1) != 0;
  const u64 magnitude = bits & format.nan();
  if (magnitude > format.infinity) return special(Exact::Kind::kNaN, negative);
  if (magnitude == format.infinity && format.infinity != format.largest) {
    return special(Exact::Kind::kInfinite, negative);
  }
  const auto power = static_cast<int>(magnitude >> format.fraction);
  const u64 fraction = magnitude & ((u64{1} << format.fraction) - 1);
  Exact x;
  x.negative = negative;
  x.m = power == 0 ? (flush ? 0 : fraction) : fraction | (u64{1} << format.fraction);
  x.e = std::max(power, 1) - format.bias() - static_cast<int>(format.fraction);
  return x;
}

Exact exact_integer(__int128 value) {
  Exact x;
  x.negative = value < 0;
  x.m = static_cast<Wide>(value < 0 ? -value : value);
  return x;
}

Exact product(const Exact& a, const Exact& b) {
  using Kind = Exact::Kind;
  const bool negative = a.negative != b.negative;
  if (a.kind == Kind::kNaN || b.kind == Kind::kNaN) return special(Kind::kNaN, false);
  if (a.kind == Kind::kInfinite || b.kind == Kind::kInfinite) {
    return special(a.is_zero() || b.is_zero() ? Kind::kNaN : Kind::kInfinite, negative);
  }
  Exact x;
  x.negative = negative;
  x.m = a.m * b.m;
  x.e = a.e + b.e;
  return x;
}

Exact sum(const Exact& a, const Exact& b, Mode mode) {
  using Kind = Exact::Kind;
  if (a.kind == Kind::kNaN || b.kind == Kind::kNaN) return special(Kind::kNaN, false);
  if (a.kind == Kind::kInfinite || b.kind == Kind::kInfinite) {
    if (a.kind != b.kind) return a.kind == Kind::kInfinite ? a : b;
    return a.negative == b.negative ? a : special(Kind::kNaN, false);
  }
  const bool zero_sign = a.negative == b.negative ? a.negative : mode == Mode::kDown;
  if (a.m == 0 && b.m == 0) return special(Kind::kFinite, zero_sign);
  if (a.m == 0 || b.m == 0) return a.m == 0 ? b : a;
  // The larger one has room for a carry above and, where the exponents differ, for the other below.
  Exact big = aligned(a, 120), small = aligned(b, 120);
  if (big.e < small.e || (big.e == small.e && big.m < small.m)) std::swap(big, small);
  small = shifted(small, big.e);
  if (big.negative == small.negative) {
    big.m += small.m;
  } else {
    big.m -= small.m + (small.sticky ? 1 : 0);
  }
  big.sticky = small.sticky;
  if (big.is_zero()) big.negative = mode == Mode::kDown;
  return big;
}

Exact quotient(const Exact& a, const Exact& b) {
  using Kind = Exact::Kind;
  const bool negative = a.negative != b.negative;
  if (a.kind == Kind::kNaN || b.kind == Kind::kNaN) return special(Kind::kNaN, false);
  if (a.kind == Kind::kInfinite) {
    return special(b.kind == Kind::kInfinite ? Kind::kNaN : Kind::kInfinite, negative);
  }
  if (b.is_zero()) return special(a.is_zero() ? Kind::kNaN : Kind::kInfinite, negative);
  if (b.kind == Kind::kInfinite || a.is_zero()) return special(Kind::kFinite, negative);
  const Exact top = aligned(a, 126);
  Exact x;
  x.negative = negative;
  x.m = top.m / b.m;
  x.sticky = top.m % b.m != 0;
  x.e = top.e - b.e;
  return x;
}

Exact square_root(const Exact& a) {
  using Kind = Exact::Kind;
  if (a.kind == Kind::kNaN || a.is_zero()) return a;
  if (a.negative) return special(Kind::kNaN, false);
  if (a.kind == Kind::kInfinite) return a;
  Exact top = aligned(a, 124);
  if (top.e % 2 != 0) top = aligned(a, 125);
  Wide root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Wide next = root | (Wide{1} << bit);
    if (next * next <= top.m) root = next;
  }
  Exact x;
  x.m = root;
  x.sticky = root * root != top.m;
  x.e = top.e / 2;
  return x;
}

u64 rounded(const Exact& x, const Format& format, Mode mode, const Clamp& clamp) {
  using Kind = Exact::Kind;
  const u64 sign = x.negative ? u64{1} << format.sign_bit() : 0;
  if (x.kind == Kind::kNaN) return clamp.saturate ? 0 : format.nan();
  if ((clamp.relu || clamp.saturate) && x.negative) return 0;
  const u64 one = static_cast<u64>(format.bias()) << format.fraction;
  u64 bits = 0;
  if (x.kind == Kind::kInfinite) {
    bits = clamp.finite ? format.largest : format.infinity;
  } else if (x.m != 0 || x.sticky) {
    const Exact wide = x.m == 0 ? x : aligned(x, 126);
    const int fraction = static_cast<int>(format.fraction);
    const int top = wide.m == 0 ? -100000 : wide.e + 126;  // exponent of the value
    const int exponent = std::max(top, 1 - format.bias());
    const int shift = std::min(exponent - fraction - wide.e, 200);
    const Wide whole = divided(wide.m, shift, wide.sticky, x.negative, mode);
    // A carry out of the fraction goes into the exponent by itself.
    const auto power = static_cast<Wide>(exponent + format.bias() - 1);
    const Wide all = (power << fraction) + whole;
    const bool stays = mode == Mode::kZero || (mode == Mode::kDown && !x.negative) ||
                       (mode == Mode::kUp && x.negative);
    bits = static_cast<u64>(all);
    if (all > format.largest) bits = stays || clamp.finite ? format.largest : format.infinity;
  }
  if (clamp.flush && x.kind == Kind::kFinite && below_normal(x, format, mode)) bits = 0;
  if (clamp.saturate) bits = std::min(bits, one);
  return sign | bits;
}

__int128 to_integer(const Exact& x, Mode mode) {
  const Wide limit = Wide{1} << 100;
  Wide whole = limit;
  if (x.kind == Exact::Kind::kFinite) {
    if (x.m == 0 || (x.e >= 0 && highest_bit(x.m) + x.e < 100)) {
      whole = x.m << std::max(x.e, 0);
    } else if (x.e < 0) {
      whole = divided(x.m, std::min(-x.e, 200), x.sticky, x.negative, mode);
    }
  }
  const auto value = static_cast<__int128>(std::min(whole, limit));
  return x.negative ? -value : value;
}

}  // namespace kbench::ptx::testing
