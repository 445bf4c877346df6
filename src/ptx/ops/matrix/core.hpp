// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>

#include "ptx/ops/matrix/matrix.hpp"

/// Arithmetic of tensor cores on a block of 16 rows and 8 columns; rows are vector lanes. Exact
/// sums do not depend on the order along k, so elements keep their order in the fragments' words.
namespace kbench::ptx::matrix {

constexpr unsigned kRows = 16, kColumns = 8;
constexpr unsigned kWordBlocks = 2;   // words along k, for each of four lanes
constexpr unsigned kMostPerWord = 8;  // elements per word
constexpr unsigned kMostK = kWordBlocks * 4 * kMostPerWord;

using Word = std::uint32_t;

/// Vectors as wide as the instruction set's registers; wider ones would be slow.
template <unsigned bytes>
struct Vectors {
  using FloatV [[gnu::vector_size(bytes)]] = float;
  using IntV [[gnu::vector_size(bytes)]] = std::int32_t;
  using WordV [[gnu::vector_size(bytes)]] = Word;
  static constexpr unsigned kCount = bytes / 4;
};

/// The variant of Body<bytes> for this host.
template <template <unsigned> class Body>
Execute pick_by_width() {
  switch (host_isa()) {
    case Isa::kAvx512:
      return &Variants<Body<64>>::avx512;
    case Isa::kAvx2:
      return &Variants<Body<32>>::avx2;
    default:
      return &Variants<Body<16>>::base;
  }
}

/// Words of A: [word along k][t][row]; words of B: [word along k][lane], as in the registers.
struct RowWords {
  alignas(64) Word at[kWordBlocks][4][kRows];
};
struct ColumnWords {
  alignas(64) Word at[kWordBlocks][kLanes];
};

/// Accumulators as 32 bits: [column][row].
struct Accumulators {
  alignas(64) Word at[kColumns][kRows];
};

/// Gathers rows g of eight from the four lanes that hold each.
inline void gather_rows(const Word* lanes, Word (*out)[kRows], unsigned half) {
  for (unsigned t = 0; t < 4; ++t) {
    for (unsigned g = 0; g < 8; ++g) out[t][8 * half + g] = lanes[4 * g + t];
  }
}

/// Unpacks the accumulators of a block from its registers; f16 is in pairs.
inline void gather_accumulators(const Context& c, const Word* registers, unsigned halves,
                                bool half_type, Accumulators& out) {
  for (unsigned half = 0; half < halves; ++half) {
    const Word* first = c.source<Word>(registers[half_type ? half : 2 * half]);
    const Word* second = half_type ? first : c.source<Word>(registers[2 * half + 1]);
    const unsigned shift = half_type ? 16 : 0;
    const Word mask = half_type ? 0xffffU : ~Word{0};
    for (unsigned t = 0; t < 4; ++t) {
      for (unsigned g = 0; g < 8; ++g) {
        out.at[std::size_t{2} * t][8 * half + g] = first[4 * g + t] & mask;
        out.at[2 * t + 1][8 * half + g] = second[4 * g + t] >> shift;
      }
    }
  }
  if (halves == 2) return;
  for (auto& column : out.at) std::fill(column + 8, column + kRows, 0U);
}

/// Packs the accumulators of a block into its registers.
inline void scatter_accumulators(const Context& c, const Word* registers, unsigned halves,
                                 bool half_type, const Accumulators& in) {
  for (unsigned half = 0; half < halves; ++half) {
    Word* first = c.target<Word>(registers[half_type ? half : 2 * half]);
    Word* second = half_type ? first : c.target<Word>(registers[2 * half + 1]);
    for (unsigned t = 0; t < 4; ++t) {
      for (unsigned g = 0; g < 8; ++g) {
        const Word low = in.at[std::size_t{2} * t][8 * half + g],
                   high = in.at[2 * t + 1][8 * half + g];
        first[4 * g + t] = half_type ? low | (high << 16) : low;
        if (!half_type) second[4 * g + t] = high;
      }
    }
  }
}

constexpr unsigned kFractionBits = 25;       ///< of mma, and of wgmma on wider types
constexpr unsigned kFractionBitsOfFp8 = 13;  ///< of wgmma on e4m3 and e5m2

/// Integer products: exact, modulo 2^32 or clamped to s32.
template <Element element, unsigned bytes>
struct Integers {
  using IntV = typename Vectors<bytes>::IntV;
  struct Side {
    alignas(64) std::int32_t value[kMostK * kRows];
  };
  static constexpr unsigned kBits = element == Element::kS8 ? 8 : 4;
  static constexpr unsigned kPerWord = 32 / kBits;

  static void expand(const Word* words, unsigned stride, unsigned blocks, bool other, Side& side) {
    for (unsigned block = 0; block < blocks; ++block) {
      for (unsigned h = 0; h < kPerWord; ++h) {
        std::int32_t* value = side.value + (block * kPerWord + h) * stride;
        const Word* word = words + std::size_t{block} * stride;
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
    constexpr unsigned kCount = Vectors<bytes>::kCount;
    for (unsigned j = 0; j < kColumns; ++j) {
      for (unsigned first = 0; first < kRows; first += kCount) {
        IntV sum{};
        for (unsigned k = 0; k < 4 * quads; ++k) {
          sum += *reinterpret_cast<const IntV*>(a.value + k * kRows + first) *
                 b.value[k / 4 * kLanes + 4 * j + k % 4];
        }
        const auto* sums = reinterpret_cast<const std::int32_t*>(&sum);
        for (unsigned i = 0; i < kCount; ++i) {
          out.at[j][first + i] = add(in.at[j][first + i], sums[i], (g.flags & kSaturate) != 0);
        }
      }
    }
  }

 private:
  static Word add(Word c, std::int32_t sum, bool saturate) {
    const std::int64_t whole = std::int64_t{static_cast<std::int32_t>(c)} + sum;
    constexpr std::int64_t kLeast = -0x80000000LL, kMost = 0x7fffffffLL;
    const std::int64_t bounded = whole < kLeast ? kLeast : (whole > kMost ? kMost : whole);
    return static_cast<Word>(saturate ? bounded : whole);
  }
};

/// Single bits: adds the number of ones in a∧b or a⊕b to c.
struct Bits {
  struct Side {
    alignas(64) Word value[kWordBlocks * 4 * kRows];
  };
  static void expand(const Word* words, unsigned stride, unsigned blocks, bool, Side& side) {
    std::copy(words, words + std::size_t{blocks} * stride, side.value);
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
