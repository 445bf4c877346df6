// SPDX-License-Identifier: MIT
#include <cfenv>

#include "ptx/ops_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

/// A value of the host in another rounding mode.
template <class F>
auto in_mode(int mode, F f) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile auto result = f();
  std::fesetround(before);
  return static_cast<decltype(f())>(result);
}

TEST(Float, single_arithmetic) {
  check<float, float, float, float>("add.f32 %d, %a, %b;",
                                    [](float a, float b, float) { return a + b; });
  check<float, float, float, float>("sub.rn.f32 %d, %a, %b;",
                                    [](float a, float b, float) { return a - b; });
  check<float, float, float, float>("mul.ftz.f32 %d, %a, %b;", [](float a, float b, float) {
    return flushed(flushed(a) * flushed(b));
  });
  check<float, float, float, float>("fma.rn.f32 %d, %a, %b, %c;",
                                    [](float a, float b, float c) { return std::fma(a, b, c); });
  check<float, float, float, float>("fma.rn.sat.f32 %d, %a, %b, %c;",
                                    [](float a, float b, float c) {
                                      const float r = std::fma(a, b, c);
                                      return r > 0 ? std::min(r, 1.0F) : 0.0F;
                                    });
  check<float, float, float, float>("div.rn.f32 %d, %a, %b;",
                                    [](float a, float b, float) { return a / b; });
  check<float, float, float, float>("sqrt.rn.f32 %d, %a;",
                                    [](float a, float, float) { return std::sqrt(a); });
  check<float, float, float, float>("rcp.rn.f32 %d, %a;",
                                    [](float a, float, float) { return 1.0F / a; });
}

TEST(Float, double_arithmetic) {
  check<double, double, double, double>("add.f64 %d, %a, %b;",
                                        [](double a, double b, double) { return a + b; });
  check<double, double, double, double>(
      "fma.rn.f64 %d, %a, %b, %c;", [](double a, double b, double c) { return std::fma(a, b, c); });
  check<double, double, double, double>("div.rn.f64 %d, %a, %b;",
                                        [](double a, double b, double) { return a / b; });
  check<double, double, double, double>("neg.f64 %d, %a;",
                                        [](double a, double, double) { return -a; });
}

TEST(Float, directed_roundings) {
  struct Mode {
    const char* name;
    int mode;
  };
  for (const Mode m : {Mode{"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}}) {
    check<float, float, float, float>(fmt::format("add.{}.f32 %d, %a, %b;", m.name),
                                      [m](float a, float b, float) {
                                        volatile float x = a, y = b;
                                        return in_mode(m.mode, [&] { return x + y; });
                                      });
    check<double, double, double, double>(fmt::format("mul.{}.f64 %d, %a, %b;", m.name),
                                          [m](double a, double b, double) {
                                            volatile double x = a, y = b;
                                            return in_mode(m.mode, [&] { return x * y; });
                                          });
    check<float, float, float, float>(fmt::format("div.{}.f32 %d, %a, %b;", m.name),
                                      [m](float a, float b, float) {
                                        volatile float x = a, y = b;
                                        return in_mode(m.mode, [&] { return x / y; });
                                      });
    check<float, double, float, float>(
        fmt::format("cvt.{}.f32.f64 %d, %a;", m.name), [m](double a, float, float) {
          volatile double x = a;
          return in_mode(m.mode, [&] { return static_cast<float>(x); });
        });
    check<float, s32, float, float>(fmt::format("cvt.{}.f32.s32 %d, %a;", m.name),
                                    [m](s32 a, float, float) {
                                      volatile s32 x = a;
                                      return in_mode(m.mode, [&] { return static_cast<float>(x); });
                                    });
    check<float, u64, float, float>(
        fmt::format("cvt.{}.f32.u64 %d, %a;", m.name), [m](u64 a, float, float) {
          // The low 40 bits tell a value from the next float at most.
          const u64 kept = a >> 63 != 0 ? (a >> 1) | (a & 1) : a;
          volatile s64 x = static_cast<s64>(kept);
          const float f = in_mode(m.mode, [&] { return static_cast<float>(x); });
          return a >> 63 != 0 ? 2 * f : f;
        });
  }
}

TEST(Float, minimum_and_maximum) {
  const auto least = [](float a, float b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  check<float, float, float, float>("min.f32 %d, %a, %b;",
                                    [&](float a, float b, float) { return least(a, b); });
  check<float, float, float, float>("max.NaN.f32 %d, %a, %b;", [&](float a, float b, float) {
    return std::isnan(a) || std::isnan(b) ? NAN : -least(-a, -b);
  });
  check<float, float, float, float>("max.ftz.f32 %d, %a, %b;", [&](float a, float b, float) {
    return -least(-flushed(a), -flushed(b));
  });
  check<float, float, float, float>("abs.ftz.f32 %d, %a;",
                                    [](float a, float, float) { return std::fabs(flushed(a)); });
  check<float, float, float, float>("copysign.f32 %d, %a, %b;",
                                    [](float a, float b, float) { return std::copysign(b, a); });
}

TEST(Float, comparisons) {
  struct Case {
    const char* name;
    bool (*holds)(float, float);
  };
  for (const Case& c : {Case{"lt", [](float a, float b) { return a < b; }},
                        {"ne", [](float a, float b) { return a < b || a > b; }},
                        {"geu", [](float a, float b) { return !(a < b); }},
                        {"neu", [](float a, float b) { return a != b; }},
                        {"equ", [](float a, float b) { return !(a < b || a > b); }},
                        {"num", [](float a, float b) { return !std::isnan(a) && !std::isnan(b); }},
                        {"nan", [](float a, float b) { return std::isnan(a) || std::isnan(b); }}}) {
    check<u32, float, float, u32>(
        fmt::format("setp.{}.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p;", c.name),
        [&](float a, float b, u32) { return u32{c.holds(a, b)}; });
  }
  check<u32, float, float, u32>(
      "testp.subnormal.f32 %p, %a; selp.u32 %d, 1, 0, %p;",
      [](float a, float, u32) { return u32{std::fpclassify(a) == FP_SUBNORMAL}; });
}

template <class I>
I converted(double x, I nan) {
  if (std::isnan(x)) return nan;
  if (x >= std::ldexp(1.0, std::numeric_limits<I>::digits)) return std::numeric_limits<I>::max();
  if (x <= static_cast<double>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  return static_cast<I>(x);
}

TEST(Float, to_integers) {
  check<s32, float, float, float>("cvt.rzi.s32.f32 %d, %a;", [](float a, float, float) {
    return converted<s32>(std::trunc(static_cast<double>(a)), 0);
  });
  check<u32, float, float, float>("cvt.rni.u32.f32 %d, %a;", [](float a, float, float) {
    return converted<u32>(std::nearbyint(static_cast<double>(a)), 0);
  });
  check<s64, double, float, float>("cvt.rmi.s64.f64 %d, %a;", [](double a, float, float) {
    return converted<s64>(std::floor(a), INT64_MIN);
  });
  check<u64, float, float, float>("cvt.rpi.u64.f32 %d, %a;", [](float a, float, float) {
    return converted<u64>(std::ceil(static_cast<double>(a)), u64{1} << 63);
  });
  check<float, float, float, float>("cvt.rni.f32.f32 %d, %a;",
                                    [](float a, float, float) { return std::nearbyint(a); });
  check<float, float, float, float>("cvt.sat.f32.f32 %d, %a;", [](float a, float, float) {
    return a > 0 ? std::min(a, 1.0F) : 0.0F;
  });
}

TEST(Float, from_integers) {
  check<float, s32, s32, s32>("cvt.rn.f32.s32 %d, %a;",
                              [](s32 a, s32, s32) { return static_cast<float>(a); });
  check<float, u64, s32, s32>("cvt.rn.f32.u64 %d, %a;",
                              [](u64 a, s32, s32) { return static_cast<float>(a); });
  check<double, s64, s32, s32>("cvt.rn.f64.s64 %d, %a;",
                               [](s64 a, s32, s32) { return static_cast<double>(a); });
  check<float, u16, s32, s32>("cvt.rn.f32.u8 %d, %a;",
                              [](u16 a, s32, s32) { return static_cast<float>(a & 255); });
}

/// A format of 16 bits, by how many of them are mantissa.
constexpr int kHalf = 10, kBfloat = 7;
constexpr int bias_of(int mantissa) { return (1 << (14 - mantissa)) - 1; }

/// The nearest value of such a format to an exact one in long double (64 bits of precision, wide
/// exponent), so that it is rounded once.
u16 nearest(long double x, int mantissa) {
  if (std::isnan(x)) return 0x7fff;
  const int bias = bias_of(mantissa);
  const auto infinity = static_cast<u32>(2 * bias + 1) << mantissa;
  const u16 sign = std::signbit(x) ? 0x8000 : 0;
  const long double magnitude = std::fabs(x);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return static_cast<u16>(sign | infinity);
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const long double scaled = std::ldexp(magnitude, mantissa - exponent);
  const auto whole = static_cast<u32>(std::nearbyint(scaled));
  const u32 bits = (static_cast<u32>(exponent + bias - 1) << mantissa) + whole;
  return static_cast<u16>(sign | std::min(bits, infinity));
}
u16 half_of(long double x) { return nearest(x, kHalf); }
u16 bfloat_of(long double x) { return nearest(x, kBfloat); }

float half_value(u16 h) {
  const int exponent = (h >> kHalf) & 31, fraction = h & 0x3ff;
  const int whole = exponent == 0 ? fraction : fraction + (1 << kHalf);
  float magnitude = std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - 25);
  if (exponent == 31) magnitude = fraction == 0 ? INFINITY : NAN;
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}
bool same_half(u16 a, u16 b) {
  const auto nan = [](u16 h) { return (h & 0x7fff) > 0x7c00; };
  return nan(a) || nan(b) ? nan(a) && nan(b) : a == b;
}
float bfloat_value(u16 h) { return std::bit_cast<float>(static_cast<u32>(h) << 16); }
bool same_bfloat(u16 a, u16 b) {
  const auto nan = [](u16 h) { return (h & 0x7fff) > 0x7f80; };
  return nan(a) || nan(b) ? nan(a) && nan(b) : a == b;
}

TEST(Float, half_conversions) {
  check<float, u16, u16, u16>("cvt.f32.f16 %d, %a;", [](u16 a, u16, u16) { return half_value(a); });
  check<u16, float, u16, u16>(
      "cvt.rn.f16.f32 %d, %a;", [](float a, u16, u16) { return half_of(a); }, &same_half);
  check<u16, double, u16, u16>(
      "cvt.rn.f16.f64 %d, %a;", [](double a, u16, u16) { return half_of(a); }, &same_half);
  check<u16, float, u16, u16>(
      "cvt.rn.bf16.f32 %d, %a;", [](float a, u16, u16) { return bfloat_of(a); }, &same_bfloat);
  check<u32, float, float, u16>("cvt.rn.f16x2.f32 %d, %a, %b;", [](float a, float b, u16) {
    return (u32{half_of(a)} << 16) | half_of(b);
  });
  check<u32, float, u16, u16>("cvt.rna.tf32.f32 %d, %a;", [](float a, u16, u16) {
    const u32 bits = std::bit_cast<u32>(a);
    if (std::isnan(a)) return bits & 0xffffe000U;
    return std::isfinite(a) ? (bits + 0x1000) & 0xffffe000U : bits;
  });
}

TEST(Float, half_arithmetic) {
  check<u16, u16, u16, u16>(
      "add.f16 %d, %a, %b;",
      [](u16 a, u16 b, u16) { return half_of(half_value(a) + half_value(b)); }, &same_half);
  check<u16, u16, u16, u16>(
      "mul.rn.f16 %d, %a, %b;",
      [](u16 a, u16 b, u16) { return half_of(half_value(a) * half_value(b)); }, &same_half);
  check<u16, u16, u16, u16>(
      "fma.rn.f16 %d, %a, %b, %c;",
      [](u16 a, u16 b, u16 c) {
        const auto wide = [](u16 h) { return static_cast<long double>(half_value(h)); };
        return half_of(wide(a) * wide(b) + wide(c));
      },
      &same_half);
  check<u16, u16, u16, u16>(
      "fma.rn.bf16 %d, %a, %b, %c;",
      [](u16 a, u16 b, u16 c) {
        const double p =
            static_cast<double>(bfloat_value(a)) * static_cast<double>(bfloat_value(b));
        const double q = static_cast<double>(bfloat_value(c));
        // Where the exponents are too far apart for 64 bits the smaller one is only a nudge.
        long double sum = static_cast<long double>(p) + static_cast<long double>(q);
        const bool far = p != 0 && q != 0 && std::isfinite(p) && std::isfinite(q) &&
                         std::abs(std::ilogb(p) - std::ilogb(q)) > 40;
        if (far) {
          const double big = std::fabs(p) > std::fabs(q) ? p : q, small = big == p ? q : p;
          sum =
              static_cast<long double>(big) + std::copysign(std::ldexp(1.0L, std::ilogb(big) - 40),
                                                            static_cast<long double>(small));
        }
        return bfloat_of(sum);
      },
      &same_bfloat);
  check<u32, u32, u32, u32>("sub.f16x2 %d, %a, %b;", [](u32 a, u32 b, u32) {
    const auto one = [](u32 x, u32 y) {
      return half_of(half_value(static_cast<u16>(x)) - half_value(static_cast<u16>(y)));
    };
    return (u32{one(a >> 16, b >> 16)} << 16) | one(a, b);
  });
  check<u32, u16, u16, u32>("setp.lt.f16 %p, %a, %b; selp.u32 %d, 1, 0, %p;",
                            [](u16 a, u16 b, u32) { return u32{half_value(a) < half_value(b)}; });
  check<u32, u32, u32, u32>("neg.bf16x2 %d, %a;", [](u32 a, u32, u32) { return a ^ 0x80008000U; });
}

/// Within a relative bound of the true value, special values exact.
template <int bits>
bool close(float got, float want) {
  if (!std::isfinite(want) || want == 0) return same(got, want);
  if (std::fabs(want) < std::numeric_limits<float>::min()) {
    return std::fabs(got - want) <= std::numeric_limits<float>::min();
  }
  return std::fabs(got - want) <= std::ldexp(std::fabs(want), -bits);
}

TEST(Float, approximations_within_their_bounds) {
  const auto wide = [](float x) { return static_cast<double>(x); };
  check<float, float, float, float>(
      "ex2.approx.f32 %d, %a;",
      [&](float a, float, float) { return static_cast<float>(std::exp2(wide(a))); }, &close<22>);
  check<float, float, float, float>(
      "ex2.approx.ftz.f32 %d, %a;",
      [&](float a, float, float) {
        return flushed(static_cast<float>(std::exp2(wide(flushed(a)))));
      },
      &close<22>);
  check<float, float, float, float>(
      "lg2.approx.f32 %d, %a;",
      [&](float a, float, float) { return static_cast<float>(std::log2(wide(a))); }, &close<22>);
  check<float, float, float, float>(
      "rsqrt.approx.f32 %d, %a;",
      [&](float a, float, float) { return static_cast<float>(1 / std::sqrt(wide(a))); },
      &close<22>);
  check<float, float, float, float>(
      "tanh.approx.f32 %d, %a;",
      [&](float a, float, float) { return static_cast<float>(std::tanh(wide(a))); }, &close<11>);
  check<float, float, float, float>(
      "sin.approx.f32 %d, %a;",
      [&](float a, float, float) { return static_cast<float>(std::sin(wide(a))); },
      [](float got, float want) {
        return std::isnan(want) ? std::isnan(got) : std::fabs(got - want) <= 0x1p-20F;
      });
  check<float, float, float, float>(
      "div.approx.f32 %d, %a, %b;",
      [](float a, float b, float) {
        if (std::fabs(b) > 0x1p126F && std::isfinite(b)) return a * 0.0F;
        return a / b;
      },
      [](float got, float want) {
        // A zero of either sign where the divisor is that large.
        return close<22>(got, want) || (want == 0 && got == 0);
      });
}

}  // namespace
}  // namespace kbench::ptx::testing
