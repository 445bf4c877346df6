// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>

#include "ptx/lanes.hpp"
#include "ptx/ops_matrix.hpp"

/// The arithmetic of tensor cores on one block of 16 rows and 8 columns. Rows are the lanes of
/// vectors. Order along k does not matter to sums that are exact, so elements stay in the order in
/// which the words of fragments hold them.
namespace kbench::ptx::matrix {

constexpr unsigned kRows = 16, kColumns = 8;
constexpr unsigned kWordBlocks = 2;   // words along k, each of four lanes
constexpr unsigned kMostPerWord = 8;  // elements
constexpr unsigned kMostK = kWordBlocks * 4 * kMostPerWord;

using Word = std::uint32_t;

/// Words of A: [word along k][t][row]; of B: [word along k][lane], as in the registers.
struct RowWords {
  alignas(64) Word at[kWordBlocks][4][kRows];
};
struct ColumnWords {
  alignas(64) Word at[kWordBlocks][kLanes];
};

/// Accumulators, bits in 32: [column][row].
struct Accumulators {
  alignas(64) Word at[kColumns][kRows];
};

/// Rows g of eight, from the four lanes that share each.
inline void gather_rows(const Word* lanes, Word (*out)[kRows], unsigned half) {
  for (unsigned t = 0; t < 4; ++t) {
    for (unsigned g = 0; g < 8; ++g) out[t][8 * half + g] = lanes[4 * g + t];
  }
}

/// Accumulators of a block out of its registers, f16 in pairs.
inline void gather_accumulators(const Context& c, const Word* registers, unsigned halves,
                                bool half_type, Accumulators& out) {
  for (unsigned half = 0; half < halves; ++half) {
    const Word* first = c.source<Word>(registers[half_type ? half : 2 * half]);
    const Word* second = half_type ? first : c.source<Word>(registers[2 * half + 1]);
    const unsigned shift = half_type ? 16 : 0;
    const Word mask = half_type ? 0xffffU : ~Word{0};
    for (unsigned t = 0; t < 4; ++t) {
      for (unsigned g = 0; g < 8; ++g) {
        out.at[2 * t][8 * half + g] = first[4 * g + t] & mask;
        out.at[2 * t + 1][8 * half + g] = second[4 * g + t] >> shift;
      }
    }
  }
  if (halves == 2) return;
  for (auto& column : out.at) std::fill(column + 8, column + kRows, 0U);
}

/// The way back.
inline void scatter_accumulators(const Context& c, const Word* registers, unsigned halves,
                                 bool half_type, const Accumulators& in) {
  for (unsigned half = 0; half < halves; ++half) {
    Word* first = c.target<Word>(registers[half_type ? half : 2 * half]);
    Word* second = half_type ? first : c.target<Word>(registers[2 * half + 1]);
    for (unsigned t = 0; t < 4; ++t) {
      for (unsigned g = 0; g < 8; ++g) {
        const Word low = in.at[2 * t][8 * half + g], high = in.at[2 * t + 1][8 * half + g];
        first[4 * g + t] = half_type ? low | (high << 16) : low;
        if (!half_type) second[4 * g + t] = high;
      }
    }
  }
}

/// Floating elements: values, and the exponents that the hardware aligns by.
struct FloatSide {
  alignas(64) float value[32 * kRows];
  alignas(64) std::int32_t exponent[32 * kRows];
  std::int32_t lowest, highest;  ///< exponents of what is not zero
};

constexpr std::int32_t kExponentOfZero = -4096;
constexpr std::int32_t kExponentOfSpecial = 128;
constexpr unsigned kFractionBits = 25;       ///< of mma and of wgmma's wider types
constexpr unsigned kFractionBitsOfFp8 = 13;  ///< of wgmma on e4m3 and e5m2

/// ⌊log2 |x|⌋, that of subnormals of a type being its least exponent.
inline std::int32_t exponent_of(float x, std::int32_t least) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & 0x7fffffffU;
  const auto field = static_cast<std::int32_t>(magnitude >> 23) - 127;
  return magnitude == 0 ? kExponentOfZero : (field > least ? field : least);
}

template <Element element>
struct Decoded {
  static constexpr unsigned kPerWord = element == Element::kTf32   ? 1
                                       : element == Element::kE4m3 ? 4
                                                                   : 2;
  /// Products of two such are exact in a float, far from its ends.
  static constexpr bool kNarrow = element == Element::kF16 || element == Element::kE4m3;

  static constexpr std::int32_t least(bool other) {
    if constexpr (element == Element::kE4m3) return other ? -14 : -6;
    return element == Element::kF16 ? -14 : -126;
  }
  static float value(Word word, unsigned index, bool other) {
    if constexpr (element == Element::kTf32) {
      return std::bit_cast<float>(word & 0xffffe000U);
    } else if constexpr (element == Element::kBf16) {
      return std::bit_cast<float>(index == 0 ? word << 16 : word & 0xffff0000U);
    } else if constexpr (element == Element::kF16) {
      return to_float(Half{static_cast<std::uint16_t>(word >> (16 * index))});
    } else {
      const Word byte = (word >> (8 * index)) & 0xffU;
      const float wide = to_float(Half{static_cast<std::uint16_t>(byte << 8)});
      const Word magnitude = byte & 0x7fU;
      const float scaled = std::bit_cast<float>(magnitude << 20) * 0x1p120F;
      const Word bits = magnitude == 0x7f ? 0x7fc00000U : std::bit_cast<Word>(scaled);
      return other ? wide : std::bit_cast<float>(bits | ((byte & 0x80U) << 24));
    }
  }
};

/// Products aligned to the largest of them and of the accumulator, cut behind `fraction` bits,
/// added exactly; the sum is cut to f32, or rounded to f16.
template <Element element>
struct Floats {
  using Side = FloatSide;
  using Decoder = Decoded<element>;
  using FloatV [[gnu::vector_size(64)]] = float;
  using IntV [[gnu::vector_size(64)]] = std::int32_t;

  static void expand(const Word* words, unsigned stride, unsigned blocks, bool other, Side& side) {
    std::int32_t lowest = 0, highest = kExponentOfZero;
    const std::int32_t least = Decoder::least(other);
    for (unsigned block = 0; block < blocks; ++block) {
      for (unsigned h = 0; h < Decoder::kPerWord; ++h) {
        float* value = side.value + (block * Decoder::kPerWord + h) * stride;
        std::int32_t* exponent = side.exponent + (block * Decoder::kPerWord + h) * stride;
        const Word* word = words + block * stride;
        for (unsigned i = 0; i < stride; ++i) {
          value[i] = Decoder::value(word[i], h, other);
          const std::int32_t e = exponent_of(value[i], least);
          exponent[i] = e;
          highest = e > highest ? e : highest;
          const std::int32_t low = e == kExponentOfZero ? 0 : e;
          lowest = low < lowest ? low : lowest;
        }
      }
    }
    side.lowest = lowest;
    side.highest = highest;
  }

  static void multiply(const Side& a, const Side& b, const Geometry& g, unsigned fraction,
                       const Accumulators& in, Accumulators& out) {
    Block block;
    const std::int32_t highest = std::max({a.highest, b.highest, take_addends(g, in, block)});
    if (highest >= kExponentOfSpecial) return multiply_special(a, b, g, fraction, block, out);
    const unsigned quads = g.k_blocks * Decoder::kPerWord;
    if (fraction == kFractionBits && fits_float(a) && fits_float(b)) {
      for (unsigned j = 0; j < kColumns; ++j) sum_float(a, b, quads, j, block);
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

  /// Values of c and their exponents; the highest of them.
  static std::int32_t take_addends(const Geometry& g, const Accumulators& in, Block& block) {
    const bool half_type = (g.flags & kHalfC) != 0;
    std::int32_t highest = kExponentOfZero;
    for (unsigned j = 0; j < kColumns; ++j) {
      for (unsigned i = 0; i < kRows; ++i) {
        const Word bits = in.at[j][i];
        const float wide = to_float(Half{static_cast<std::uint16_t>(bits)});
        const float x = half_type ? wide : std::bit_cast<float>(bits);
        const std::int32_t e = exponent_of(x, half_type ? -14 : -126);
        block.c[j][i] = x;
        block.exponent[j][i] = e;
        highest = e > highest ? e : highest;
      }
    }
    return highest;
  }

  /// With infinities or NaNs: IEEE's rules decide on the sums that they are part of; the others are
  /// summed with zeros in their places.
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

  /// The sum of column j, in units of 2^(exponent − fraction), for moderate magnitudes: products
  /// and scales are normal floats, and each term is below 2^27.
  static void sum_float(const Side& a, const Side& b, unsigned quads, unsigned j, Block& block) {
    const auto* values = reinterpret_cast<const FloatV*>(a.value);
    const auto* exponents = reinterpret_cast<const IntV*>(a.exponent);
    const float* factor = b.value + 4 * j;
    const std::int32_t* shift = b.exponent + 4 * j;
    IntV top = *reinterpret_cast<const IntV*>(block.exponent[j]);
    IntV products = IntV{} + 2 * kExponentOfZero;
    for (unsigned q = 0; q < quads; ++q) {
      for (unsigned t = 0; t < 4; ++t) {
        const IntV e = exponents[4 * q + t] + shift[q * kLanes + t];
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
        const FloatV product = values[4 * q + t] * factor[q * kLanes + t] * scale;
        sum += __builtin_convertvector(product, IntV);
      }
      sums[q / 4] = sum;
    }
    const FloatV c = *reinterpret_cast<const FloatV*>(block.c[j]);
    const IntV addend = __builtin_convertvector(c * scale, IntV);
    const auto* first = reinterpret_cast<const std::int32_t*>(sums);
    const auto* last = reinterpret_cast<const std::int32_t*>(&addend);
    const auto* tops = reinterpret_cast<const std::int32_t*>(&top);
    const auto* terms = reinterpret_cast<const std::int32_t*>(&products);
    for (unsigned i = 0; i < kRows; ++i) {
      const double sum = static_cast<double>(first[i]) + static_cast<double>(first[kRows + i]) +
                         static_cast<double>(last[i]);
      const double unit = power(tops[i] - static_cast<std::int32_t>(kFractionBits));
      const double alone = static_cast<double>(block.c[j][i]) + 0.0;
      block.sum[j][i] = terms[i] < -1000 ? alone : sum * unit;
    }
  }

  static double power(std::int32_t exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }

  /// The same for all magnitudes.
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

  /// Towards zero, to an integer; |x| < 2^27.
  static double cut(double x) { return static_cast<double>(static_cast<std::int32_t>(x)); }

  /// Towards zero; past the largest float: infinity.
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

/// Integers: exact, modulo 2^32 or clamped to s32.
template <Element element>
struct Integers {
  struct Side {
    alignas(64) std::int32_t value[kMostK * kRows];
  };
  using IntV [[gnu::vector_size(64)]] = std::int32_t;
  static constexpr unsigned kBits = element == Element::kS8 ? 8 : 4;
  static constexpr unsigned kPerWord = 32 / kBits;

  static void expand(const Word* words, unsigned stride, unsigned blocks, bool other, Side& side) {
    for (unsigned block = 0; block < blocks; ++block) {
      for (unsigned h = 0; h < kPerWord; ++h) {
        std::int32_t* value = side.value + (block * kPerWord + h) * stride;
        const Word* word = words + block * stride;
        for (unsigned i = 0; i < stride; ++i) {
          const Word high = word[i] << (32 - kBits * (h + 1));
          value[i] = other ? static_cast<std::int32_t>(high >> (32 - kBits))
                           : static_cast<std::int32_t>(high) >> (32 - kBits);
        }
      }
    }
  }

  static void multiply(const Side& a, const Side& b, const Geometry& g, unsigned /*fraction*/,
                       const Accumulators& in, Accumulators& out) {
    const unsigned quads = g.k_blocks * kPerWord;
    const auto* values = reinterpret_cast<const IntV*>(a.value);
    for (unsigned j = 0; j < kColumns; ++j) {
      IntV sum{};
      for (unsigned q = 0; q < quads; ++q) {
        for (unsigned t = 0; t < 4; ++t) {
          sum += values[4 * q + t] * b.value[q * kLanes + 4 * j + t];
        }
      }
      const auto* sums = reinterpret_cast<const std::int32_t*>(&sum);
      for (unsigned i = 0; i < kRows; ++i) {
        const std::int64_t whole = std::int64_t{static_cast<std::int32_t>(in.at[j][i])} + sums[i];
        constexpr std::int64_t kLeast = -0x80000000LL, kMost = 0x7fffffffLL;
        const std::int64_t bounded = whole < kLeast ? kLeast : (whole > kMost ? kMost : whole);
        out.at[j][i] = static_cast<Word>((g.flags & kSaturate) != 0 ? bounded : whole);
      }
    }
  }
};

/// Single bits: the number of those that a∧b or a⊕b has, added to c.
struct Bits {
  struct Side {
    alignas(64) Word value[kWordBlocks * 4 * kRows];
  };
  static void expand(const Word* words, unsigned stride, unsigned blocks, bool, Side& side) {
    std::copy(words, words + blocks * stride, side.value);
  }
  static void multiply(const Side& a, const Side& b, const Geometry& g, unsigned /*fraction*/,
                       const Accumulators& in, Accumulators& out) {
    const bool both = (g.flags & kAnd) != 0;
    for (unsigned j = 0; j < kColumns; ++j) {
      for (unsigned i = 0; i < kRows; ++i) {
        Word sum = in.at[j][i];
        for (unsigned k = 0; k < 4U * g.k_blocks; ++k) {
          const Word x = a.value[k * kRows + i], y = b.value[k / 4 * kLanes + 4 * j + k % 4];
          sum += static_cast<Word>(std::popcount(both ? x & y : x ^ y));
        }
        out.at[j][i] = sum;
      }
    }
  }
};

}  // namespace kbench::ptx::matrix
