// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/ops/matrix/floats.hpp"

/// mma on e4m3 and e5m2. Hopper has no such instruction; its compiler converts the elements to f16.
namespace kbench::ptx::matrix {

/// The lower or the upper two bytes of each word as f16 bits.
template <class V>
void widen_bytes(const typename V::WordV& words, unsigned upper, bool e5m2,
                 typename V::WordV& out) {
  using WordV = typename V::WordV;
  WordV halves[2];
  for (unsigned h = 0; h < 2; ++h) {
    const WordV byte = (words >> (16 * upper + 8 * h)) & 0xffU;
    if (e5m2) {
      halves[h] = byte << 8;
      continue;
    }
    typename V::FloatV value;
    e4m3_values<V>(byte, value);
    const WordV magnitude = reinterpret_cast<const WordV&>(value) & 0x7fffffffU;
    // Every e4m3 value except NaN is zero or a normal f16.
    const WordV rebiased = (magnitude >> 13) - (112U << 10);
    const WordV finite = magnitude == 0 ? WordV{} : rebiased;
    halves[h] = (magnitude > 0x7f800000U ? WordV{} + 0x7fffU : finite) | ((byte & 0x80U) << 8);
  }
  out = halves[0] | (halves[1] << 16);
}

/// Sums the products of each word's lower two bytes, then adds those of the upper two, each like
/// mma on f16. c is added last, rounded to nearest even.
template <unsigned bytes>
struct FloatBytes {
  using V = Vectors<bytes>;
  using WordV = typename V::WordV;
  using Wide = Floats<Element::kF16, bytes>;
  struct Side {
    FloatSide parts[2];
  };

  static void expand(const Word* words, unsigned stride, unsigned blocks, bool other, Side& side) {
    alignas(64) Word wide[kWordBlocks * 4 * kRows];
    for (unsigned upper = 0; upper < 2; ++upper) {
      for (unsigned i = 0; i < blocks * stride; i += V::kCount) {
        widen_bytes<V>(*reinterpret_cast<const WordV*>(words + i), upper, other,
                       *reinterpret_cast<WordV*>(wide + i));
      }
      Wide::expand(wide, stride, blocks, false, side.parts[upper]);
    }
  }

  static void multiply(const Side& a, const Side& b, const Geometry& g, unsigned fraction,
                       const Accumulators& in, Accumulators& out) {
    const Accumulators zero{};
    Accumulators lower, sum;
    Wide::multiply(a.parts[0], b.parts[0], g, fraction, zero, lower);
    Wide::multiply(a.parts[1], b.parts[1], g, fraction, lower, sum);
    const bool half_type = (g.flags & kHalfD) != 0;
    for (unsigned j = 0; j < kColumns; ++j) {
      for (unsigned i = 0; i < kRows; ++i) {
        out.at[j][i] = half_type ? add_halves(sum.at[j][i], in.at[j][i])
                                 : add_floats(sum.at[j][i], in.at[j][i]);
      }
    }
  }

 private:
  static Word add_floats(Word x, Word y) {
    const float sum = std::bit_cast<float>(x) + std::bit_cast<float>(y);
    return sum != sum ? 0x7fffffffU : std::bit_cast<Word>(sum);
  }
  static Word add_halves(Word x, Word y) {
    const float a = to_float(Half{static_cast<std::uint16_t>(x)});
    const float b = to_float(Half{static_cast<std::uint16_t>(y)});
    return to_half(odd_float(static_cast<double>(a) + static_cast<double>(b))).bits;
  }
};

}  // namespace kbench::ptx::matrix
