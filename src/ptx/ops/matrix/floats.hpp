// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/lanes.hpp"
#include "ptx/ops/matrix/core.hpp"

/// Arithmetic of tensor cores on floating elements, as far as Hopper's is known.
namespace kbench::ptx::matrix {

/// Floating elements: values, and the exponents that the hardware aligns by.
struct FloatSide {
  alignas(64) float value[32 * kRows];
  alignas(64) std::int32_t exponent[32 * kRows];
  std::int32_t lowest, highest;  ///< exponents of nonzero values
};

constexpr std::int32_t kExponentOfZero = -4096;
constexpr std::int32_t kExponentOfSpecial = 128;

/// ⌊log2 |x|⌋ of each value; a subnormal of a type has that type's least exponent.
template <class V>
void exponents_of(const typename V::FloatV& x, std::int32_t least, typename V::IntV& out) {
  using IntV = typename V::IntV;
  using WordV = typename V::WordV;
  const WordV magnitude = reinterpret_cast<const WordV&>(x) & 0x7fffffffU;
  const WordV shifted = magnitude >> 23;
  const IntV field = reinterpret_cast<const IntV&>(shifted) - 127;
  const IntV bounded = field > least ? field : IntV{} + least;
  out = magnitude == 0 ? IntV{} + kExponentOfZero : bounded;
}

/// Converts narrow floats in the low `bits` bits of words, whose other bits are zero. The type is
/// f16, or e4m3, which has no infinities and only one NaN.
template <class V, unsigned bits, unsigned fraction>
void narrow_values(const typename V::WordV& words, typename V::FloatV& out) {
  using FloatV = typename V::FloatV;
  using WordV = typename V::WordV;
  constexpr Word kSign = 1U << (bits - 1), kMost = kSign - 1;
  constexpr Word kInfinity = kMost & ~((1U << fraction) - 1);
  constexpr Word kBias = (1U << (bits - fraction - 2)) - 1;
  constexpr float kRebias = std::bit_cast<float>((254 - kBias) << 23);  // 2^(127 − bias)
  const WordV magnitude = words & kMost, sign = (words & kSign) << (32 - bits);
  const WordV shifted = magnitude << (23 - fraction);
  const FloatV scaled = reinterpret_cast<const FloatV&>(shifted) * kRebias;
  const WordV finite = reinterpret_cast<const WordV&>(scaled);
  WordV value;
  if constexpr (bits == 16) {
    value = magnitude >= kInfinity ? shifted | 0x7f800000U : finite;
  } else {
    value = magnitude == kMost ? WordV{} + 0x7fc00000U : finite;
  }
  const WordV with_sign = value | sign;
  out = reinterpret_cast<const FloatV&>(with_sign);
}

/// Converts f16 in the low halves of words.
template <class V>
void half_values(const typename V::WordV& halves, typename V::FloatV& out) {
  narrow_values<V, 16, 10>(halves, out);
}

/// Converts e4m3 in the low bytes of words.
template <class V>
void e4m3_values(const typename V::WordV& bytes, typename V::FloatV& out) {
  narrow_values<V, 8, 3>(bytes, out);
}

template <class V>
std::int32_t highest_of(const typename V::IntV& x) {
  std::int32_t highest = x[0];
  for (unsigned i = 1; i < V::kCount; ++i) highest = std::max<std::int32_t>(highest, x[i]);
  return highest;
}

template <Element element, class V>
struct Decoded {
  using FloatV = typename V::FloatV;
  using WordV = typename V::WordV;
  static constexpr unsigned kPerWord = element == Element::kTf32   ? 1
                                       : element == Element::kE4m3 ? 4
                                                                   : 2;
  /// Products of two such values are exact in a float and far from its limits.
  static constexpr bool kNarrow = element == Element::kF16 || element == Element::kE4m3;

  static constexpr std::int32_t least(bool other) {
    if constexpr (element == Element::kE4m3) return other ? -14 : -6;
    return element == Element::kF16 ? -14 : -126;
  }
  static void values(const WordV& words, unsigned index, bool other, FloatV& out) {
    if constexpr (element == Element::kTf32) {
      const WordV bits = words & 0xffffe000U;
      out = reinterpret_cast<const FloatV&>(bits);
    } else if constexpr (element == Element::kBf16) {
      const WordV bits = index == 0 ? words << 16 : words & 0xffff0000U;
      out = reinterpret_cast<const FloatV&>(bits);
    } else if constexpr (element == Element::kF16) {
      half_values<V>((words >> (16 * index)) & 0xffffU, out);
    } else {
      const WordV bytes = (words >> (8 * index)) & 0xffU;
      if (other) {
        half_values<V>(bytes << 8, out);
      } else {
        e4m3_values<V>(bytes, out);
      }
    }
  }
};

/// Aligns products to the largest of them and the accumulator, truncates them after `fraction` bits
/// and adds them exactly. The sum is truncated to f32, or rounded to f16.
template <Element element, unsigned bytes>
struct Floats {
  using Side = FloatSide;
  using V = Vectors<bytes>;
  using FloatV = typename V::FloatV;
  using IntV = typename V::IntV;
  using WordV = typename V::WordV;
  using Decoder = Decoded<element, V>;

  static void expand(const Word* words, unsigned stride, unsigned blocks, bool other, Side& side) {
    IntV lowest{}, highest = IntV{} + kExponentOfZero;
    const std::int32_t least = Decoder::least(other);
    for (unsigned block = 0; block < blocks; ++block) {
      for (unsigned h = 0; h < Decoder::kPerWord; ++h) {
        const unsigned at = (block * Decoder::kPerWord + h) * stride;
        for (unsigned i = 0; i < stride; i += V::kCount) {
          const auto& word =
              *reinterpret_cast<const WordV*>(words + std::size_t{block} * stride + i);
          auto& value = *reinterpret_cast<FloatV*>(side.value + at + i);
          Decoder::values(word, h, other, value);
          IntV e;
          exponents_of<V>(value, least, e);
          *reinterpret_cast<IntV*>(side.exponent + at + i) = e;
          highest = e > highest ? e : highest;
          const IntV low = e == kExponentOfZero ? IntV{} : e;
          lowest = low < lowest ? low : lowest;
        }
      }
    }
    side.lowest = -highest_of<V>(-lowest);
    side.highest = highest_of<V>(highest);
  }

  static void multiply(const Side& a, const Side& b, const Geometry& g, unsigned fraction,
                       const Accumulators& in, Accumulators& out) {
    Block block;
    const std::int32_t highest = std::max({a.highest, b.highest, take_addends(g, in, block)});
    if (highest >= kExponentOfSpecial) return multiply_special(a, b, g, fraction, block, out);
    const unsigned quads = g.k_blocks * Decoder::kPerWord;
    if (fraction == kFractionBits && fits_float(a) && fits_float(b)) {
      for (unsigned j = 0; j < kColumns; ++j) {
        for (unsigned i = 0; i < kRows; i += V::kCount) sum_float(a, b, quads, j, i, block);
      }
    } else {
      for (unsigned j = 0; j < kColumns; ++j) sum_double(a, b, quads, j, fraction, block);
    }
    round(g, fraction, block, out);
  }

 private:
  struct Block {
    alignas(64) float c[kColumns][kRows];
    alignas(64) std::int32_t exponent[kColumns][kRows];  ///< of c, then of the largest term
    alignas(64) double sum[kColumns][kRows];
    double special[kColumns][kRows];
  };

  static bool fits_float(const Side& side) {
    return Decoder::kNarrow || (side.lowest >= -50 && side.highest <= 50);
  }

  /// Reads c: values and exponents. Returns the highest exponent.
  static std::int32_t take_addends(const Geometry& g, const Accumulators& in, Block& block) {
    const bool half_type = (g.flags & kHalfC) != 0;
    IntV highest = IntV{} + kExponentOfZero;
    for (unsigned j = 0; j < kColumns; ++j) {
      for (unsigned i = 0; i < kRows; i += V::kCount) {
        const auto& bits = *reinterpret_cast<const WordV*>(in.at[j] + i);
        FloatV value = reinterpret_cast<const FloatV&>(bits);
        if (half_type) half_values<V>(bits, value);
        IntV e;
        exponents_of<V>(value, half_type ? -14 : -126, e);
        *reinterpret_cast<FloatV*>(block.c[j] + i) = value;
        *reinterpret_cast<IntV*>(block.exponent[j] + i) = e;
        highest = e > highest ? e : highest;
      }
    }
    return highest_of<V>(highest);
  }

  /// The case with infinities or NaNs. Sums that contain them follow IEEE rules; for the other sums
  /// they are replaced by zeros.
  [[gnu::noinline]] static void multiply_special(const Side& with_a, const Side& with_b,
                                                 const Geometry& g, unsigned fraction, Block& block,
                                                 Accumulators& out) {
    Side a = with_a, b = with_b;
    const unsigned quads = g.k_blocks * Decoder::kPerWord;
    for (unsigned j = 0; j < kColumns; ++j) {
      for (unsigned i = 0; i < kRows; ++i) {
        double sum = static_cast<double>(block.c[j][i]);
        for (unsigned k = 0; k < 4 * quads; ++k) {
          sum += static_cast<double>(a.value[k * kRows + i]) *
                 static_cast<double>(b.value[k / 4 * kLanes + 4 * j + k % 4]);
        }
        block.special[j][i] = sum;
        if (block.exponent[j][i] < kExponentOfSpecial) continue;
        block.exponent[j][i] = kExponentOfZero;
        block.c[j][i] = 0;
      }
    }
    remove_special(a, 4 * quads * kRows);
    remove_special(b, quads * kLanes);
    for (unsigned j = 0; j < kColumns; ++j) sum_double(a, b, quads, j, fraction, block);
    round(g, fraction, block, out);
    put_special((g.flags & kHalfD) != 0, block, out);
  }

  static void remove_special(Side& side, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      if (side.exponent[i] < kExponentOfSpecial) continue;
      side.exponent[i] = kExponentOfZero;
      side.value[i] = 0;
    }
  }

  /// Sum of column j, in units of 2^(exponent − fraction), for moderate magnitudes. Products and
  /// scales are normal floats, and each term is below 2^27.
  static void sum_float(const Side& a, const Side& b, unsigned quads, unsigned j, unsigned row,
                        Block& block) {
    const float* values = a.value + row;
    const std::int32_t* exponents = a.exponent + row;
    const float* factor = b.value + std::size_t{4} * j;
    const std::int32_t* shift = b.exponent + std::size_t{4} * j;
    IntV top = *reinterpret_cast<const IntV*>(block.exponent[j] + row);
    IntV products = IntV{} + 2 * kExponentOfZero;
    for (unsigned q = 0; q < quads; ++q) {
      for (unsigned t = 0; t < 4; ++t) {
        const IntV e =
            *reinterpret_cast<const IntV*>(exponents + (std::size_t{4} * q + t) * kRows) +
            shift[q * kLanes + t];
        products = e > products ? e : products;
      }
    }
    top = products > top ? products : top;
    top = top > -100 ? top : IntV{} - 100;
    const IntV scale_bits = (static_cast<std::int32_t>(kFractionBits) + 127 - top) << 23;
    const FloatV scale = reinterpret_cast<const FloatV&>(scale_bits);
    IntV sums[2] = {IntV{}, IntV{}};
    for (unsigned q = 0; q < quads; ++q) {
      IntV sum = sums[q / 4];
      for (unsigned t = 0; t < 4; ++t) {
        const FloatV product =
            *reinterpret_cast<const FloatV*>(values + (std::size_t{4} * q + t) * kRows) *
            factor[q * kLanes + t] * scale;
        sum += __builtin_convertvector(product, IntV);
      }
      sums[q / 4] = sum;
    }
    const FloatV c = *reinterpret_cast<const FloatV*>(block.c[j] + row);
    const IntV addend = __builtin_convertvector(c * scale, IntV);
    const auto* first = reinterpret_cast<const std::int32_t*>(sums);
    const auto* last = reinterpret_cast<const std::int32_t*>(&addend);
    const auto* tops = reinterpret_cast<const std::int32_t*>(&top);
    const auto* terms = reinterpret_cast<const std::int32_t*>(&products);
    for (unsigned i = 0; i < V::kCount; ++i) {
      const double sum = static_cast<double>(first[i]) + static_cast<double>(first[V::kCount + i]) +
                         static_cast<double>(last[i]);
      const double unit = power(tops[i] - static_cast<std::int32_t>(kFractionBits));
      const double alone = static_cast<double>(block.c[j][row + i]) + 0.0;
      block.sum[j][row + i] = terms[i] < -1000 ? alone : sum * unit;
    }
  }

  static double power(std::int32_t exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }

  /// Like sum_float(), for all magnitudes.
  static void sum_double(const Side& a, const Side& b, unsigned quads, unsigned j,
                         unsigned fraction, Block& block) {
    std::int32_t* top = block.exponent[j];
    double scale[kRows];
    for (unsigned k = 0; k < 4 * quads; ++k) {
      const std::int32_t shift = b.exponent[k / 4 * kLanes + 4 * j + k % 4];
      for (unsigned i = 0; i < kRows; ++i) {
        const std::int32_t e = a.exponent[k * kRows + i] + shift;
        top[i] = e > top[i] ? e : top[i];
      }
    }
    for (unsigned i = 0; i < kRows; ++i) {
      top[i] = top[i] > -126 ? top[i] : -126;
      scale[i] = power(static_cast<std::int32_t>(fraction) - top[i]);
      block.sum[j][i] = cut(static_cast<double>(block.c[j][i]) * scale[i]);
    }
    for (unsigned k = 0; k < 4 * quads; ++k) {
      const auto factor = static_cast<double>(b.value[k / 4 * kLanes + 4 * j + k % 4]);
      for (unsigned i = 0; i < kRows; ++i) {
        const double product = static_cast<double>(a.value[k * kRows + i]) * factor;
        block.sum[j][i] += cut(product * scale[i]);
      }
    }
    for (unsigned i = 0; i < kRows; ++i) {
      block.sum[j][i] *= power(top[i] - static_cast<std::int32_t>(fraction));
    }
  }

  /// Truncates to an integer; |x| < 2^27.
  static double cut(double x) { return static_cast<double>(static_cast<std::int32_t>(x)); }

  /// Truncates to float; beyond the largest float the result is infinity.
  static float cut_float(double x) {
    const auto near = static_cast<float>(x);
    const bool away = std::fabs(static_cast<double>(near)) > std::fabs(x);
    const float below = std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) - 1U);
    return away && std::fabs(x) < 0x1p128 ? below : near;
  }

  static void round(const Geometry& g, unsigned fraction, const Block& block, Accumulators& out) {
    const bool half_d = (g.flags & kHalfD) != 0;
    const Word kept = fraction == kFractionBits ? ~Word{0} : ~Word{0} << (23 - fraction);
    for (unsigned j = 0; j < kColumns; ++j) {
      if (half_d) {
        for (unsigned i = 0; i < kRows; ++i) {
          out.at[j][i] = to_half(odd_float(block.sum[j][i])).bits;
        }
      } else {
        for (unsigned i = 0; i < kRows; ++i) {
          out.at[j][i] = std::bit_cast<Word>(cut_float(block.sum[j][i])) & kept;
        }
      }
    }
  }

  static void put_special(bool half_d, const Block& block, Accumulators& out) {
    for (unsigned j = 0; j < kColumns; ++j) {
      for (unsigned i = 0; i < kRows; ++i) {
        const double x = block.special[j][i];
        if (std::isfinite(x)) continue;
        const Word infinity =
            half_d ? (x < 0 ? 0xfc00U : 0x7c00U) : std::bit_cast<Word>(static_cast<float>(x));
        out.at[j][i] = std::isnan(x) ? (half_d ? 0x7fffU : 0x7fffffffU) : infinity;
      }
    }
  }
};

}  // namespace kbench::ptx::matrix
