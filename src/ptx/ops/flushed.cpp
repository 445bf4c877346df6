// SPDX-License-Identifier: MIT
#include <array>

#include "ptx/machine/arithmetic.hpp"
#include "ptx/machine/decode.hpp"
#include "ptx/machine/lanes.hpp"

// mul.ftz and fma.ftz. The GPU rounds to 24 bits first and then flushes values below the normal
// range. The host rounds such a value to a subnormal's precision, which can round it up to the
// least normal.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using Lanes = std::array<float, kLanes>;

constexpr u32 kLeastNormal = 0x00800000U;

/// True if the exact a·b + e, rounded to 24 bits, is below 2^-126.
bool tiny(float a, float b, float e) {
  constexpr double kLeast = 0x1p-126 - 0x1p-151;  // rounds, as a tie, to 2^-126
  const double p = static_cast<double>(a) * static_cast<double>(b), q = static_cast<double>(e);
  const double s = p + q;
  const double shadow = s - p;
  const double error = (p - (s - shadow)) + (q - shadow);
  if (std::fabs(s) != kLeast) return std::fabs(s) < kLeast;
  return error != 0 && (error < 0) != (s < 0);
}

/// Flushes results of ±2^-126 that were rounded up from a smaller magnitude.
[[gnu::noinline, gnu::cold]] void correct(Lanes& result, const float* a, const float* b,
                                          const float* e) {
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((std::bit_cast<u32>(result[i]) & 0x7fffffffU) != kLeastNormal) continue;
    if (tiny(flush(a[i]), flush(b[i]), e == nullptr ? 0.0F : flush(e[i]))) {
      result[i] = std::copysign(0.0F, result[i]);
    }
  }
}

template <bool fma, bool saturating, bool masked>
struct Product {
  static void run(Context& c, const Instr& in) {
    const float* a = c.source<float>(in.s[0]);
    const float* b = c.source<float>(in.s[1]);
    const float* e = fma ? c.source<float>(in.s[2]) : nullptr;
    alignas(64) Lanes result;
    if (compute(result, a, b, e) != 0) correct(result, a, b, e);
    store(c.mask, c.target<float>(in.d), result);
  }

 private:
  /// Returns nonzero if correct() must check the results.
  static u32 compute(Lanes& result, const float* a, const float* b,
                     [[maybe_unused]] const float* e) {
    u32 doubtful = 0;
    for (unsigned i = 0; i < kLanes; ++i) {
      const float x = flush(a[i]), y = flush(b[i]);
      float r = 0;
      if constexpr (fma) {
        r = std::fma(x, y, flush(e[i]));
      } else {
        r = x * y;
      }
      doubtful |= static_cast<u32>((std::bit_cast<u32>(r) & 0x7fffffffU) == kLeastNormal);
      result[i] = flush(r);
    }
    return doubtful;
  }
  static void store(u32 mask, float* d, const Lanes& result) {
    for (unsigned i = 0; i < kLanes; ++i) {
      const float value = saturating ? saturate(result[i]) : result[i];
      d[i] = !masked || ((mask >> i) & 1U) != 0 ? value : d[i];
    }
  }
};

template <bool fma, bool saturating>
void choose(Decode& d) {
  d.out.full = pick<Product<fma, saturating, false>>();
  d.out.masked = pick<Product<fma, saturating, true>>();
}

}  // namespace

void flushed_product(Decode& d, bool fma, bool saturating) {
  if (fma) return saturating ? choose<true, true>(d) : choose<true, false>(d);
  saturating ? choose<false, true>(d) : choose<false, false>(d);
}

}  // namespace kbench::ptx
