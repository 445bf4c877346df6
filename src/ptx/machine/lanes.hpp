// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

/// Arithmetic on one lane that C++ lacks. It has no branches where a loop must be vectorized.
namespace kbench::ptx {

/// A half-precision value, as bits.
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

/// Two half-precision values, packed into one register.
template <class H>
struct Pair {
  H low, high;
};

/// A value in a register of type R: truncated, or extended by its own sign.
template <class R, class T>
constexpr R as_register(T value) {
  return static_cast<R>(value);
}

inline float to_float(float x) { return x; }

inline float to_float(Half h) {
  const std::uint32_t magnitude = h.bits & 0x7fffU;
  const std::uint32_t sign = (h.bits & 0x8000U) << 16;
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const std::uint32_t finite = std::bit_cast<std::uint32_t>(scaled);
  const std::uint32_t special = (magnitude << 13) | 0x7f800000U;
  return std::bit_cast<float>((magnitude >= 0x7c00U ? special : finite) | sign);
}

inline float to_float(Bfloat b) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(b.bits) << 16);
}

/// Rounds to nearest even; a NaN becomes the canonical NaN.
inline Half to_half(float f) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t tiny = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) -
                             std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t normal =
      ((magnitude + 0xfffU + ((magnitude >> 13) & 1U)) >> 13) - (112U << 10);
  std::uint32_t result = magnitude < 0x38800000U ? tiny : normal;
  result = magnitude >= 0x477ff000U ? 0x7c00U : result;
  result |= sign;
  result = magnitude > 0x7f800000U ? 0x7fffU : result;
  return {static_cast<std::uint16_t>(result)};
}

inline Bfloat to_bfloat(float f) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return {static_cast<std::uint16_t>(nan ? 0x7fffU : rounded)};
}

template <class T>
T from_float(float f) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(f);
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return to_bfloat(f);
  } else {
    return f;
  }
}

/// Rounds to odd, so that a later rounding to a half type equals a single rounding of the exact
/// value.
inline float odd_float(double x) {
  const float f = static_cast<float>(x);
  const double back = static_cast<double>(f);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  const bool away = std::fabs(back) > std::fabs(x);
  const bool exact = !(back != x) || std::isnan(x);
  bits = exact ? bits : ((bits - (away ? 1U : 0U)) | 1U);
  return std::bit_cast<float>(bits);
}

/// a·b + c of a half type (the product is exact in double), rounded to odd.
inline float odd_fma(float a, float b, float c) {
  const double p = static_cast<double>(a) * static_cast<double>(b);
  const double q = static_cast<double>(c);
  const double s = p + q;
  const double shadow = s - p;
  const double error = (p - (s - shadow)) + (q - shadow);
  std::uint64_t bits = std::bit_cast<std::uint64_t>(s);
  const bool inexact = error != 0 && std::isfinite(s);
  const bool away = (error < 0) != (s < 0);
  bits = inexact ? ((bits - (away ? 1U : 0U)) | 1U) : bits;
  return odd_float(std::bit_cast<double>(bits));
}

inline float flush(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits);
}

/// Clamps to [0, 1]; NaN becomes 0.
template <class T>
T saturate(T x) {
  const T low = x > T{0} ? x : T{0};
  return low < T{1} ? low : T{1};
}

/// Replaces NaN by the canonical NaN and negative values by zero.
template <class H>
H half_relu(H h) {
  const float f = to_float(h);
  return f > 0 ? h : (f != f ? H{0x7fff} : H{0});
}

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// IEEE 754-2019 minimumNumber: a number wins over NaN, and −0 is less than +0.
template <class T>
T min_number(T a, T b) {
  const T zeros = std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) | std::bit_cast<BitsOf<T>>(b));
  const T ordered = a == b ? zeros : (a < b ? a : b);
  return a != a ? b : (b != b ? a : ordered);
}

template <class T>
T max_number(T a, T b) {
  const T zeros = std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) & std::bit_cast<BitsOf<T>>(b));
  const T ordered = a == b ? zeros : (a > b ? a : b);
  return a != a ? b : (b != b ? a : ordered);
}

/// 2^x by a polynomial in double precision; relative error below 2^-30 before the final rounding.
inline float exp2_approx(float x) {
  const double clamped = x > 200.0F ? 200.0 : (x < -200.0F ? -200.0 : static_cast<double>(x));
  const double shifted = clamped + 0x1.8p52;  // the nearest integer, in the low bits
  const double f = clamped - (shifted - 0x1.8p52);
  double p = 1.5403530393381606e-4;
  p = p * f + 1.3333558146428443e-3;
  p = p * f + 9.618129107628477e-3;
  p = p * f + 5.550410866482158e-2;
  p = p * f + 2.4022650695910072e-1;
  p = p * f + 6.931471805599453e-1;
  p = p * f + 1.0;
  const std::uint64_t n = std::bit_cast<std::uint64_t>(shifted);
  const double scale = std::bit_cast<double>((n + 1023) << 52);
  return x != x ? x : static_cast<float>(p * scale);
}

/// log2(x) by the series of atanh; absolute error below 2^-28 near 1, relative error elsewhere.
inline float log2_approx(float x) {
  const double wide = static_cast<double>(x);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(wide);
  const std::uint64_t offset = bits - 0x3fe6a09e667f3bcdULL;  // of sqrt(1/2): mantissa around 1
  const std::int64_t exponent = static_cast<std::int64_t>(offset) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent) << 52));
  const double t = (m - 1.0) / (m + 1.0);
  const double t2 = t * t;
  double p = 1.0 / 13;
  p = p * t2 + 1.0 / 11;
  p = p * t2 + 1.0 / 9;
  p = p * t2 + 1.0 / 7;
  p = p * t2 + 1.0 / 5;
  p = p * t2 + 1.0 / 3;
  p = p * t2 + 1.0;
  const double series = p * t * 2.8853900817779268;
  const double sum = static_cast<double>(static_cast<std::int32_t>(exponent)) + series;
  float result = static_cast<float>(sum);
  result = x == 0 ? -std::numeric_limits<float>::infinity() : result;
  result = x == std::numeric_limits<float>::infinity() ? x : result;
  return x < 0 || x != x ? std::numeric_limits<float>::quiet_NaN() : result;
}

}  // namespace kbench::ptx
