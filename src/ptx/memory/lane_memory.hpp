// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/exec.hpp"
#include "ptx/machine/lanes.hpp"
#include "ptx/memory/shape.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define KBENCH_PTX_INTRINSICS 1
// GCC 12 warns of vectors that its own header leaves uninitialized on purpose.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

/// Loads and stores of all lanes at once. The addresses have been checked.
namespace kbench::ptx {

template <class R>
void put(R* d, std::uint32_t mask, const R* values) {
#pragma GCC ivdep
  for (unsigned i = 0; i < kLanes; ++i) d[i] = ((mask >> i) & 1U) != 0 ? values[i] : d[i];
}

#ifdef KBENCH_PTX_INTRINSICS
/// Operations that compilers do not vectorize well for AVX-512. All are for registers of 4 bytes.
namespace wide {

KBENCH_PTX_AVX512 inline __mmask16 low_lanes(std::uint32_t mask) {
  return static_cast<__mmask16>(mask);
}

KBENCH_PTX_AVX512 inline __mmask16 high_lanes(std::uint32_t mask) {
  return static_cast<__mmask16>(mask >> 16);
}

/// True if a half of one of 32 words is 0xFFFF.
KBENCH_PTX_AVX512 inline bool has_ones(const std::uint32_t* values) {
  const __m512i ones = _mm512_set1_epi32(-1);
  const __mmask32 low = _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(values), ones);
  const __mmask32 high = _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(values + 16), ones);
  return (low | high) != 0;
}

/// d[i] = a[source[i]] for the lanes of a mask; d and a may be the same register.
KBENCH_PTX_AVX512 inline void permute(std::uint32_t* d, const std::uint32_t* a,
                                      const std::uint32_t* source, std::uint32_t mask) {
  const __m512i low = _mm512_loadu_si512(a), high = _mm512_loadu_si512(a + 16);
  const __m512i x = _mm512_loadu_si512(source), y = _mm512_loadu_si512(source + 16);
  _mm512_mask_storeu_epi32(d, low_lanes(mask), _mm512_permutex2var_epi32(low, x, high));
  _mm512_mask_storeu_epi32(d + 16, high_lanes(mask), _mm512_permutex2var_epi32(low, y, high));
}

/// Loads lanes that are within 128 bytes of each other: two vectors and a permutation of their
/// words.
KBENCH_PTX_AVX512 inline void near(std::uint32_t* d, const std::byte* from, std::uint32_t words,
                                   const std::uint32_t* offset, std::uint32_t mask) {
  const std::uint64_t there = (std::uint64_t{1} << words) - 1;
  const __m512i low = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(there), from);
  const __m512i high = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(there >> 16), from + 64);
  const __m512i a = _mm512_srli_epi32(_mm512_loadu_si512(offset), 2);
  const __m512i b = _mm512_srli_epi32(_mm512_loadu_si512(offset + 16), 2);
  _mm512_mask_storeu_epi32(d, low_lanes(mask), _mm512_permutex2var_epi32(low, a, high));
  _mm512_mask_storeu_epi32(d + 16, high_lanes(mask), _mm512_permutex2var_epi32(low, b, high));
}

KBENCH_PTX_AVX512 inline __m128i quad(const std::byte* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

KBENCH_PTX_AVX512 inline __m512i four_quads(const std::byte* from, const std::uint32_t* offset) {
  __m512i r = _mm512_castsi128_si512(quad(from + offset[0]));
  r = _mm512_inserti32x4(r, quad(from + offset[4]), 1);
  r = _mm512_inserti32x4(r, quad(from + offset[8]), 2);
  return _mm512_inserti32x4(r, quad(from + offset[12]), 3);
}

struct Quads {
  __m512i x, y, z, w;
};

/// Transposes 4 by 4 words in each 128 bits.
KBENCH_PTX_AVX512 inline Quads transpose(const Quads& r) {
  const __m512i a = _mm512_unpacklo_epi32(r.x, r.y), b = _mm512_unpackhi_epi32(r.x, r.y);
  const __m512i c = _mm512_unpacklo_epi32(r.z, r.w), e = _mm512_unpackhi_epi32(r.z, r.w);
  return {_mm512_unpacklo_epi64(a, c), _mm512_unpackhi_epi64(a, c), _mm512_unpacklo_epi64(b, e),
          _mm512_unpackhi_epi64(b, e)};
}

/// Loads 16 bytes a lane into four registers.
KBENCH_PTX_AVX512 inline void load_quads(std::array<std::uint32_t*, 4> d, const std::byte* from,
                                         const std::uint32_t* offset, std::uint32_t mask) {
  for (unsigned half = 0; half < kLanes; half += 16) {
    const std::uint32_t* at = offset + half;
    const Quads rows{four_quads(from, at), four_quads(from, at + 1), four_quads(from, at + 2),
                     four_quads(from, at + 3)};
    const Quads columns = transpose(rows);
    const __mmask16 lanes = half == 0 ? low_lanes(mask) : high_lanes(mask);
    if (d[0] != nullptr) _mm512_mask_storeu_epi32(d[0] + half, lanes, columns.x);
    if (d[1] != nullptr) _mm512_mask_storeu_epi32(d[1] + half, lanes, columns.y);
    if (d[2] != nullptr) _mm512_mask_storeu_epi32(d[2] + half, lanes, columns.z);
    if (d[3] != nullptr) _mm512_mask_storeu_epi32(d[3] + half, lanes, columns.w);
  }
}

KBENCH_PTX_AVX512 inline void store_four(std::byte* to, const std::uint32_t* offset, __m512i r) {
  const auto at = [&](unsigned i) { return reinterpret_cast<__m128i*>(to + offset[i]); };
  _mm_storeu_si128(at(0), _mm512_castsi512_si128(r));
  _mm_storeu_si128(at(4), _mm512_maskz_extracti32x4_epi32(0xf, r, 1));
  _mm_storeu_si128(at(8), _mm512_maskz_extracti32x4_epi32(0xf, r, 2));
  _mm_storeu_si128(at(12), _mm512_maskz_extracti32x4_epi32(0xf, r, 3));
}

/// Stores four registers as 16 bytes a lane, for all 32 lanes at different addresses.
KBENCH_PTX_AVX512 inline void store_quads(std::byte* to, const std::uint32_t* offset,
                                          std::array<const std::uint32_t*, 4> s) {
  for (unsigned half = 0; half < kLanes; half += 16) {
    const Quads columns{_mm512_loadu_si512(s[0] + half), _mm512_loadu_si512(s[1] + half),
                        _mm512_loadu_si512(s[2] + half), _mm512_loadu_si512(s[3] + half)};
    const Quads rows = transpose(columns);
    store_four(to, offset + half, rows.x);
    store_four(to, offset + half + 1, rows.y);
    store_four(to, offset + half + 2, rows.z);
    store_four(to, offset + half + 3, rows.w);
  }
}

}  // namespace wide
#endif

/// Loads `in.aux` values of type M into registers of type R, starting at shape.host. `kWide`: with
/// AVX-512. Rare cases are in separate functions, to keep the common paths short.
template <class M, class R, bool kWide>
struct LaneLoad {
  static void run(Context& c, const Instr& in, const Shape& shape) {
    if (shape.kind == Shape::Kind::kLinear) {
      if (shape.stride == 0) return same(c, in, shape.host);
      if (shape.stride == sizeof(M) && in.aux == 1 && c.mask == kAllLanes) {
        return copy<kLanes>(c.target<R>(in.list[0]), shape.host);
      }
    }
#ifdef KBENCH_PTX_INTRINSICS
    if constexpr (kWordsWide) {
      const std::uint32_t count = shape.span / 4 + in.aux;
      if (count <= 32) return near(c, in, shape, count);
    }
#endif
    seldom()(c, in);
  }

 private:
  static constexpr bool kWordsWide = kWide && sizeof(M) == 4 && sizeof(R) == 4;

  struct Seldom {
    static void run(Context& c, const Instr& in) {
      const Shape& shape = *c.target<Shape>(in.extra);
#ifdef KBENCH_PTX_INTRINSICS
      if constexpr (kWordsWide) {
        if (in.aux == 4) return quads(c, in, shape);
      }
#endif
      if (in.aux == 1 && shape.stride == sizeof(M)) {
        if (shape.kind == Shape::Kind::kLinear) return part(c, in, shape.host);
        if (shape.kind == Shape::Kind::kGroups) return grouped<1>(c, in, shape);
      }
      if (in.aux == 1 && shape.stride == 0 && shape.kind == Shape::Kind::kGroups) {
        return grouped<0>(c, in, shape);
      }
      for (unsigned k = 0; k < in.aux; ++k) {
        if (in.list[k] == kNone) continue;
        gather(c.target<R>(in.list[k]), shape.host + k * sizeof(M), shape.offset.data(), c.mask);
      }
    }
  };
  static Execute seldom() {
    static const Execute kSeldom = pick<Seldom>();
    return kSeldom;
  }

  static void same(const Context& c, const Instr& in, const std::byte* from) {
    const M* m = reinterpret_cast<const M*>(from);
    for (unsigned k = 0; k < in.aux; ++k) {
      if (in.list[k] != kNone) put_same(c.target<R>(in.list[k]), c.mask, as_register<R>(m[k]));
    }
  }
  /// Loads a contiguous range of the lanes.
  static void part(const Context& c, const Instr& in, const std::byte* from) {
    R* d = c.target<R>(in.list[0]) + std::countr_zero(c.mask);
    const auto count = static_cast<unsigned>(std::popcount(c.mask));
    const M* m = reinterpret_cast<const M*>(from);
#pragma GCC ivdep
    for (unsigned i = 0; i < count; ++i) d[i] = as_register<R>(m[i]);
  }
  template <unsigned count>
  static void copy(R* d, const std::byte* from) {
    const M* m = reinterpret_cast<const M*>(from);
#pragma GCC ivdep
    for (unsigned i = 0; i < count; ++i) d[i] = as_register<R>(m[i]);
  }
  template <unsigned step>
  static void grouped(const Context& c, const Instr& in, const Shape& shape) {
    R* d = c.target<R>(in.list[0]);
    for (unsigned g = 0; g < kLanes; g += kGroup) {
      const M* m = reinterpret_cast<const M*>(shape.host + shape.offset[g]);
#pragma GCC ivdep
      for (unsigned i = 0; i < kGroup; ++i) d[g + i] = as_register<R>(m[i * step]);
    }
  }
  // With indexes instead of pointers, the compiler can use gathers.
  static void gather(R* d, const std::byte* from, const std::uint32_t* offset, std::uint32_t mask) {
    const M* m = reinterpret_cast<const M*>(from);
    if (mask == kAllLanes) {
#pragma GCC ivdep
      for (unsigned i = 0; i < kLanes; ++i) {
        d[i] = as_register<R>(m[static_cast<std::int32_t>(offset[i] / sizeof(M))]);
      }
      return;
    }
    alignas(64) std::array<R, kLanes> values;
    for (unsigned i = 0; i < kLanes; ++i) {
      values[i] = as_register<R>(m[static_cast<std::int32_t>(offset[i] / sizeof(M))]);
    }
    put(d, mask, values.data());
  }
#ifdef KBENCH_PTX_INTRINSICS
  static void near(const Context& c, const Instr& in, const Shape& shape, std::uint32_t count) {
    for (unsigned k = 0; k < in.aux; ++k) {
      if (in.list[k] == kNone) continue;
      wide::near(c.target<std::uint32_t>(in.list[k]), shape.host + std::size_t{4} * k, count - k,
                 shape.offset.data(), c.mask);
    }
  }
  static void quads(const Context& c, const Instr& in, const Shape& shape) {
    std::array<std::uint32_t*, 4> d{};
    for (unsigned k = 0; k < 4; ++k) {
      if (in.list[k] != kNone) d[k] = c.target<std::uint32_t>(in.list[k]);
    }
    wide::load_quads(d, shape.host, shape.offset.data(), c.mask);
  }
#endif
};

/// Stores registers of type R as `in.aux` values of type M, starting at shape.host. Of lanes that
/// write to the same address, the highest wins.
template <class M, class R, bool kWide>
struct LaneStore {
  static void run(Context& c, const Instr& in, const Shape& shape) {
    if (in.aux == 1 && shape.stride == sizeof(M) && shape.kind == Shape::Kind::kLinear &&
        c.mask == kAllLanes) {
      return copy<kLanes>(shape.host, c.source<R>(in.list[0]));
    }
    seldom()(c, in);
  }

 private:
  struct Seldom {
    static void run(Context& c, const Instr& in) {
      const Shape& shape = *c.target<Shape>(in.extra);
      const bool linear = shape.kind == Shape::Kind::kLinear;
      if (in.aux == 1 && shape.stride == sizeof(M)) {
        if (linear) return part(c, in, shape.host);
        if (shape.kind == Shape::Kind::kGroups) return grouped(c, in, shape);
      }
      if (linear && shape.stride == 0) return same(c, in, shape.host);
#ifdef KBENCH_PTX_INTRINSICS
      if constexpr (kWide && sizeof(M) == 4 && sizeof(R) == 4) {
        // These stores are not in lane order, so lanes must not overlap.
        if (in.aux == 4 && c.mask == kAllLanes && linear && shape.stride >= 16) {
          return wide::store_quads(
              shape.host, shape.offset.data(),
              {c.source<std::uint32_t>(in.list[0]), c.source<std::uint32_t>(in.list[1]),
               c.source<std::uint32_t>(in.list[2]), c.source<std::uint32_t>(in.list[3])});
        }
      }
#endif
      for (unsigned k = 0; k < in.aux; ++k) {
        const R* s = c.source<R>(in.list[k]);
        for_lanes(c.mask, [&](unsigned i) {
          reinterpret_cast<M*>(shape.host + shape.offset[i])[k] = static_cast<M>(s[i]);
        });
      }
    }
  };
  static Execute seldom() {
    static const Execute kSeldom = pick<Seldom>();
    return kSeldom;
  }

  template <unsigned count>
  static void copy(std::byte* to, const R* s) {
    M* m = reinterpret_cast<M*>(to);
#pragma GCC ivdep
    for (unsigned i = 0; i < count; ++i) m[i] = static_cast<M>(s[i]);
  }
  static void part(const Context& c, const Instr& in, std::byte* to) {
    const R* s = c.source<R>(in.list[0]) + std::countr_zero(c.mask);
    M* m = reinterpret_cast<M*>(to);
    const auto count = static_cast<unsigned>(std::popcount(c.mask));
#pragma GCC ivdep
    for (unsigned i = 0; i < count; ++i) m[i] = static_cast<M>(s[i]);
  }
  static void same(const Context& c, const Instr& in, std::byte* to) {
    const auto last = static_cast<unsigned>(31 - std::countl_zero(c.mask));
    for (unsigned k = 0; k < in.aux; ++k) {
      reinterpret_cast<M*>(to)[k] = static_cast<M>(c.source<R>(in.list[k])[last]);
    }
  }
  static void grouped(const Context& c, const Instr& in, const Shape& shape) {
    const R* s = c.source<R>(in.list[0]);
    for (unsigned g = 0; g < kLanes; g += kGroup) {
      M* m = reinterpret_cast<M*>(shape.host + shape.offset[g]);
      for (unsigned i = 0; i < kGroup; ++i) m[i] = static_cast<M>(s[g + i]);
    }
  }
};

}  // namespace kbench::ptx
