// SPDX-License-Identifier: MIT
#include "ptx/memory/formats.hpp"

#include <algorithm>
#include <cmath>

#include "ptx/machine/lanes.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;

/// Rounds to a narrower format with `precision` bits, whose smallest normal exponent is `least`.
/// Rounds with integers, so the host's rounding mode has no influence.
double round_to_format(double x, int precision, int least, Rounding rounding) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), least);
  const double unit = std::ldexp(1.0, exponent - precision + 1);
  const double scaled = x / unit;  // exact: unit is a power of two
  double whole = std::trunc(scaled);
  const double rest = scaled - whole;
  const double away = std::signbit(x) ? -1.0 : 1.0;
  switch (rounding) {
    case Rounding::kNearest:
      if (std::fabs(rest) > 0.5 || (std::fabs(rest) == 0.5 && std::fmod(whole, 2.0) != 0)) {
        whole += away;
      }
      break;
    case Rounding::kZero:
      break;
    case Rounding::kDown:
      if (rest < 0) whole -= 1;
      break;
    case Rounding::kUp:
      if (rest > 0) whole += 1;
      break;
  }
  return std::copysign(whole * unit, x);
}

struct Format {
  int precision, least;
  double largest;
};

Format format_of(Type type) {
  if (type == Type::kE4m3x2) return {4, -6, 448.0};
  if (type == Type::kE5m2x2) return {3, -14, 57344.0};
  if (type == Type::kF16 || type == Type::kF16x2) return {11, -14, 65504.0};
  if (type == Type::kBf16 || type == Type::kBf16x2) return {8, -126, 0x1.fep127};
  return {24, -126, static_cast<double>(std::numeric_limits<float>::max())};
}

}  // namespace

double load_float(const Context& c, Type type, u32 operand, unsigned lane) {
  switch (type) {
    case Type::kF16:
      return static_cast<double>(to_float(c.source<Half>(operand)[lane]));
    case Type::kBf16:
      return static_cast<double>(to_float(c.source<Bfloat>(operand)[lane]));
    case Type::kF32:
      return static_cast<double>(c.source<float>(operand)[lane]);
    default:
      return c.source<double>(operand)[lane];
  }
}

double narrow(double x, Type to, Rounding rounding) {
  const Format format = format_of(to);
  const double rounded = round_to_format(x, format.precision, format.least, rounding);
  if (!std::isfinite(x) || std::fabs(rounded) <= format.largest) return rounded;
  const bool stays = rounding == Rounding::kZero || (rounding == Rounding::kDown && x > 0) ||
                     (rounding == Rounding::kUp && x < 0);
  const double beyond = stays ? format.largest : std::numeric_limits<double>::infinity();
  return std::copysign(beyond, x);
}

bool tiny_float(double x, Rounding rounding) {
  constexpr int kUnbounded = -2000;
  return std::fabs(round_to_format(x, 24, kUnbounded, rounding)) < 0x1p-126;
}

double finite(double x, Type type) {
  const double largest = format_of(type).largest;
  return std::fabs(x) > largest ? std::copysign(largest, x) : x;
}

std::uint8_t to_fp8(double x, Type type) {
  if (std::isnan(x)) return 0x7f;
  const Format format = format_of(type);
  const double value =
      round_to_format(finite(x, type), format.precision, format.least, Rounding::kNearest);
  const int fraction_bits = format.precision - 1;
  const double magnitude = std::min(std::fabs(value), format.largest);
  const int exponent =
      magnitude == 0 ? format.least : std::max(std::ilogb(magnitude), format.least);
  // A subnormal's significand is below 2^fraction_bits, so the exponent field stays zero.
  const auto significand = static_cast<u32>(std::ldexp(magnitude, fraction_bits - exponent));
  const u32 bits = (static_cast<u32>(exponent - format.least) << fraction_bits) + significand;
  return static_cast<std::uint8_t>(bits | (std::signbit(x) ? 0x80U : 0U));
}

Half from_fp8(std::uint8_t bits, Type type) {
  const Format format = format_of(type);
  const u32 magnitude = bits & 0x7fU;
  const auto sign = static_cast<u32>(bits & 0x80U) << 8;
  const u32 least_nan = type == Type::kE4m3x2 ? 0x7fU : 0x7dU;
  if (magnitude >= least_nan) return {0x7fff};
  if (type == Type::kE5m2x2) return {static_cast<std::uint16_t>(sign | (magnitude << 8))};
  const int fraction_bits = format.precision - 1;
  const int exponent = static_cast<int>(magnitude >> fraction_bits);
  const u32 fraction = magnitude & ((1U << fraction_bits) - 1);
  const u32 significand = exponent == 0 ? fraction : fraction | (1U << fraction_bits);
  const double value = std::ldexp(static_cast<double>(significand),
                                  std::max(exponent, 1) - 1 + format.least - fraction_bits);
  const Half half = to_half(static_cast<float>(value));
  return {static_cast<std::uint16_t>(sign | half.bits)};
}

void store_float(Context& c, Type type, u32 operand, unsigned lane, double value) {
  switch (type) {
    case Type::kF16:
      c.target<Half>(operand)[lane] = to_half(static_cast<float>(value));
      break;
    case Type::kBf16:
      c.target<Bfloat>(operand)[lane] = to_bfloat(static_cast<float>(value));
      break;
    case Type::kF32:
      c.target<float>(operand)[lane] = static_cast<float>(value);
      break;
    default:
      c.target<double>(operand)[lane] = value;
  }
}

double round_to_integer(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearest:
      return std::nearbyint(x);
    case Rounding::kZero:
      return std::trunc(x);
    case Rounding::kDown:
      return std::floor(x);
    case Rounding::kUp:
      return std::ceil(x);
  }
  return x;
}

}  // namespace kbench::ptx
