// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

/// Floating arithmetic in integers, rounded once at the end: what the tests hold the executor
/// against. It shares nothing with the executor and leaves the host's rounding mode alone.
namespace kbench::ptx::testing {

using Wide = unsigned __int128;

enum class Mode { kNearest, kZero, kDown, kUp, kAway };

/// A format by its bits of fraction and exponent; `largest` is the magnitude of its largest finite
/// value, as bits, and everything above `infinity` is NaN.
struct Format {
  unsigned fraction, exponent;
  std::uint64_t largest, infinity;
  int bias() const { return (1 << (exponent - 1)) - 1; }
  unsigned sign_bit() const { return fraction + exponent; }
  std::uint64_t nan() const { return (std::uint64_t{1} << sign_bit()) - 1; }
};

/// The format of "f16", "bf16", "tf32", "f32", "f64", "e4m3" or "e5m2".
Format format_of(const std::string& type);

/// ±(m + a bit less than one where `sticky`)·2^e, an infinity, or NaN.
struct Exact {
  enum class Kind { kFinite, kInfinite, kNaN };
  Kind kind = Kind::kFinite;
  bool negative = false;
  Wide m = 0;
  int e = 0;
  bool sticky = false;
  bool is_zero() const { return kind == Kind::kFinite && m == 0 && !sticky; }
};

Exact exact(const Format& format, std::uint64_t bits, bool flush = false);
Exact exact_integer(__int128 value);

Exact product(const Exact& a, const Exact& b);
/// The sign of an exact zero depends on the mode.
Exact sum(const Exact& a, const Exact& b, Mode mode);
Exact quotient(const Exact& a, const Exact& b);
Exact square_root(const Exact& a);

/// What becomes of a value beyond the rounding.
struct Clamp {
  bool flush = false;     ///< what rounds to less than the normal values becomes zero
  bool saturate = false;  ///< to [0, 1], NaN to 0
  bool relu = false;      ///< negative values to +0
  bool finite = false;    ///< beyond the largest: the largest
};

/// Rounded to the format, as bits; NaN is canonical.
std::uint64_t rounded(const Exact& x, const Format& format, Mode mode, const Clamp& clamp = {});

/// The integer nearest in that mode; magnitudes beyond 2^100 are cut to that. NaN must not come.
__int128 to_integer(const Exact& x, Mode mode);

}  // namespace kbench::ptx::testing
