// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ptx/matrix_cases.hpp"

// mma on fragments in registers, against plain loops over the matrices that PTX says they hold.
namespace kbench::ptx::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Elements as bits.
struct Matrix {
  unsigned columns;
  std::vector<u64> bits;
  Matrix(unsigned rows, unsigned n) : columns(n), bits(std::size_t{rows} * n) {}
  u64& at(unsigned row, unsigned column) { return bits[std::size_t{row} * columns + column]; }
  u64 at(unsigned row, unsigned column) const { return bits[std::size_t{row} * columns + column]; }
};

/// Element i of lane's fragment, elements counted through its registers.
u64 element(const std::vector<u32>& words, unsigned bits, unsigned lane, std::size_t i) {
  if (bits == 64) return words[(i * 32 + lane) * 2] | u64{words[(i * 32 + lane) * 2 + 1]} << 32;
  const unsigned per_word = 32 / bits;
  const u64 word = words[i / per_word * 32 + lane];
  return word >> (bits * (i % per_word)) & ((u64{1} << bits) - 1);
}

/// PTX's formulas for the fragments of mma with 8 or 16 rows, all types.
struct Fragments {
  Matrix a, b, c;
  explicit Fragments(const MatrixInstruction& in)
      : a(in.m(), in.k()), b(in.k(), in.n()), c(in.m(), in.n()) {}
  Fragments(const MatrixInstruction& in, const MatrixOperands& operands) : Fragments(in) {
    const auto types = in.types();
    const unsigned bits = matrix_bits(types[1]);
    const unsigned group = bits >= 32 ? 1 : 32 / bits;
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned g = lane / 4, t = lane % 4, halves = in.m() / 8;
      for (unsigned i = 0; i < in.m() * in.k() / 32; ++i) {
        const unsigned r = i / group;
        a.at(g + 8 * (r % halves), t * group + i % group + 4 * group * (r / halves)) =
            element(operands.a, bits, lane, i);
      }
      for (unsigned i = 0; i < in.n() * in.k() / 32; ++i) {
        b.at(t * group + i % group + 4 * group * (i / group), g) =
            element(operands.b, bits, lane, i);
      }
      for (unsigned i = 0; i < in.m() * in.n() / 32; ++i) {
        c.at(g + 8 * (i / 2), 2 * t + i % 2) = element(operands.c, matrix_bits(types[3]), lane, i);
      }
    }
  }
};

double value_of(const std::string& type, u64 bits) {
  const auto decode = [&](unsigned size, unsigned mantissa, int bias) {
    const auto field = static_cast<int>(bits >> mantissa & ((1U << (size - 1 - mantissa)) - 1));
    const double fraction = static_cast<double>(bits & ((u64{1} << mantissa) - 1));
    const double sign = (bits >> (size - 1) & 1) != 0 ? -1 : 1;
    const bool top = field == (1 << (size - 1 - mantissa)) - 1;
    if (type == "e4m3" ? top && fraction == 7 : top && fraction != 0) return std::nan("");
    if (top && type != "e4m3") return sign * INFINITY;
    const auto m = static_cast<int>(mantissa);
    if (field == 0) return sign * std::ldexp(fraction, 1 - bias - m);
    return sign * std::ldexp(fraction + std::ldexp(1, m), field - bias - m);
  };
  if (type == "f16") return decode(16, 10, 15);
  if (type == "bf16") return decode(16, 7, 127);
  if (type == "e4m3") return decode(8, 3, 7);
  if (type == "e5m2") return decode(8, 2, 15);
  if (type == "tf32") bits &= 0xffffe000U;
  if (type == "tf32" || type == "f32") return decode(32, 23, 127);
  return std::bit_cast<double>(bits);
}

int least_exponent(const std::string& type) {
  if (type == "e4m3") return -6;
  return type == "f16" || type == "e5m2" ? -14 : -126;
}

/// A product, or an addend times one, and the sum of its factors' exponents.
struct Term {
  double a, b;
  int exponent;
};

/// Terms cut behind 25 bits of the largest, added exactly.
double aligned(const std::vector<Term>& terms) {
  int top = -126;
  for (const Term& term : terms) {
    if (term.a * term.b != 0) top = std::max(top, term.exponent);
  }
  double sum = 0;
  for (const Term& term : terms) {
    sum += std::ldexp(std::trunc(std::ldexp(term.a * term.b, 25 - top)), top - 25);
  }
  return sum;
}

/// What the documented arithmetic gives.
struct Sum {
  u32 rounded = 0;     ///< as d's type
  double exact = 0;    ///< of the terms as they are, to f64's precision
  double largest = 0;  ///< the largest magnitude of a term
};

u32 rounded(double x, bool half_type) {
  if (half_type) {
    if (std::isnan(x)) return 0x7fff;
    const double magnitude = std::fabs(x);
    const int unit = std::max(magnitude == 0 ? -14 : std::ilogb(magnitude), -14) - 10;
    const double steps = std::nearbyint(std::ldexp(magnitude, -unit));
    const u32 sign = std::signbit(x) ? 0x8000 : 0;
    if (std::ldexp(steps, unit) >= 65520) return sign | 0x7c00;
    const auto field = static_cast<u32>(unit + 24);  // 0: subnormals and the first binade
    return sign | (field * 1024 + static_cast<u32>(steps));
  }
  if (std::isnan(x)) return 0x7fffffff;
  auto f = static_cast<float>(x);
  if (std::fabs(static_cast<double>(f)) > std::fabs(x) && std::fabs(x) < 0x1p128) {
    f = std::nextafter(f, 0.0F);
  }
  return std::bit_cast<u32>(f);
}

int exponent_of(double x, const std::string& type) {
  constexpr int kLarge = 1 << 20;  // of infinity: sums of two are representable
  return std::clamp(std::ilogb(x), least_exponent(type), kLarge);
}

Sum aligned_sum(const MatrixInstruction& in, const Fragments& f, unsigned row, unsigned column) {
  const auto types = in.types();
  const bool half_type = types[0] == "f16", bytes = matrix_bits(types[1]) == 8;
  const double c = value_of(types[3], f.c.at(row, column));
  Sum sum;
  sum.exact = c;
  sum.largest = std::fabs(c);
  std::vector<Term> parts[2];
  for (unsigned k = 0; k < in.k(); ++k) {
    const double a = value_of(types[1], f.a.at(row, k));
    const double b = value_of(types[2], f.b.at(k, column));
    const std::string as = bytes ? "f16" : types[1];
    parts[bytes && k % 4 >= 2 ? 1 : 0].push_back({a, b, exponent_of(a, as) + exponent_of(b, as)});
    sum.exact += a * b;
    sum.largest = std::max(sum.largest, std::fabs(a * b));
  }
  const auto add = [&](std::vector<Term>& terms, double addend) {
    terms.push_back({addend, 1, exponent_of(addend, types[3])});
    return rounded(aligned(terms), half_type);
  };
  if (!bytes) {
    sum.rounded = add(parts[0], c);
    return sum;
  }
  const double products = value_of(types[0], add(parts[1], value_of(types[0], add(parts[0], 0))));
  sum.rounded = half_type ? rounded(products + c, true)
                          : std::bit_cast<u32>(static_cast<float>(products + c));
  if (!half_type && std::isnan(products + c)) sum.rounded = 0x7fffffff;
  return sum;
}

std::string label(const MatrixInstruction& in, MatrixInputs inputs, unsigned row, unsigned column) {
  return fmt::format("{} inputs {} at ({}, {})", in.text, static_cast<int>(inputs), row, column);
}

u64 result(const MatrixInstruction& in, const std::vector<u32>& d, unsigned row, unsigned column) {
  const unsigned lane = row % 8 * 4 + column / 2, i = row / 8 * 2 + column % 2;
  return element(d, matrix_bits(in.types()[0]), lane, i);
}

template <class F>
void compare(const char* kind, F expected) {
  unsigned seen = 0;
  for (const auto& in : matrix_instructions()) {
    const auto types = in.types();
    const bool quads = in.k() == 4 && types[1] == "f16";
    if (quads || in.text.find(kind) == std::string::npos) continue;
    ++seen;
    for (const MatrixInputs inputs : kMatrixInputs) {
      for (u64 seed = 1; seed < 9; ++seed) {
        const MatrixOperands operands = matrix_operands(in, inputs, seed);
        const auto d = run_matrix(in, operands);
        const Fragments f(in, operands);
        for (unsigned row = 0; row < in.m() && !::testing::Test::HasFailure(); ++row) {
          for (unsigned column = 0; column < in.n(); ++column) {
            ASSERT_NO_FATAL_FAILURE(expected(in, f, row, column, result(in, d, row, column),
                                             label(in, inputs, row, column)));
          }
        }
      }
    }
  }
  EXPECT_GT(seen, 0U);
}

void expect_aligned(const MatrixInstruction& in, const Fragments& f, unsigned row, unsigned column,
                    u64 got, const std::string& where) {
  const bool half_type = in.types()[0] == "f16";
  const Sum sum = aligned_sum(in, f, row, column);
  ASSERT_EQ(got, sum.rounded) << where << ": " << value_of(in.types()[0], got) << ", exactly "
                              << sum.exact;
  const double d = value_of(in.types()[0], got);
  if (!std::isfinite(d) || !std::isfinite(sum.exact)) return;
  const double roundings = matrix_bits(in.types()[1]) == 8 ? 3 : 1;
  const double bound = roundings * (sum.largest * std::ldexp(in.k() + 1, half_type ? -10 : -23) +
                                    std::ldexp(1, half_type ? -25 : -149));
  ASSERT_LE(std::fabs(d - sum.exact), bound) << where;
}

TEST(Mma, FloatsAreAlignedAddedAndCut) {
  compare(".f16.f16.f", expect_aligned);
  compare(".bf16.bf16.", expect_aligned);
  compare(".tf32.tf32.", expect_aligned);
}

TEST(Mma, BytesOfFloatsAreAlignedAddedAndCut) {
  compare(".e4m3.", expect_aligned);
  compare(".e5m2.", expect_aligned);
}

std::int64_t integer(const std::string& type, u64 bits) {
  const unsigned size = matrix_bits(type);
  if (type[0] == 'u') return static_cast<std::int64_t>(bits);
  return static_cast<std::int64_t>(bits << (64 - size)) >> (64 - size);
}

void expect_integers(const MatrixInstruction& in, const Fragments& f, unsigned row, unsigned column,
                     u64 got, const std::string& where) {
  const auto types = in.types();
  std::int64_t sum = integer("s32", f.c.at(row, column));
  for (unsigned k = 0; k < in.k(); ++k) {
    sum += integer(types[1], f.a.at(row, k)) * integer(types[2], f.b.at(k, column));
  }
  if (in.text.find("satfinite") != std::string::npos) {
    sum = std::clamp(sum, std::int64_t{-0x80000000LL}, std::int64_t{0x7fffffff});
  }
  ASSERT_EQ(static_cast<u32>(got), static_cast<u32>(sum)) << where;
}

TEST(Mma, IntegersWrapOrSaturate) {
  for (const char* kind : {".s8.", ".u8.", ".s4.", ".u4."}) compare(kind, expect_integers);
}

TEST(Mma, SaturatesAtBothEnds) {
  const MatrixInstruction in{"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4, 4, 2,
                             4};
  MatrixOperands operands = matrix_operands(in, MatrixInputs::kNear, 1);
  std::fill(operands.a.begin(), operands.a.end(), 0x80808080U);
  std::fill(operands.b.begin(), operands.b.end(), 0x80808080U);
  std::fill(operands.c.begin(), operands.c.end(), 0x7fffff00U);
  EXPECT_EQ(run_matrix(in, operands), std::vector<u32>(128, 0x7fffffffU));
  std::fill(operands.b.begin(), operands.b.end(), 0x7f7f7f7fU);
  std::fill(operands.c.begin(), operands.c.end(), 0x80000100U);
  EXPECT_EQ(run_matrix(in, operands), std::vector<u32>(128, 0x80000000U));
}

TEST(Mma, BitsAreCounted) {
  compare(".b1.b1.", [](const MatrixInstruction& in, const Fragments& f, unsigned row,
                        unsigned column, u64 got, const std::string& where) {
    const bool both = in.text.find(".and.") != std::string::npos;
    auto sum = static_cast<u32>(f.c.at(row, column));
    for (unsigned k = 0; k < in.k(); ++k) {
      const u64 a = f.a.at(row, k), b = f.b.at(k, column);
      sum += static_cast<u32>(both ? a & b : a ^ b);
    }
    ASSERT_EQ(static_cast<u32>(got), sum) << where;
  });
}

TEST(Mma, DoublesAreAChainOfFma) {
  compare(".f64.", [](const MatrixInstruction& in, const Fragments& f, unsigned row,
                      unsigned column, u64 got, const std::string& where) {
    auto sum = std::bit_cast<double>(f.c.at(row, column));
    for (unsigned k = 0; k < in.k(); ++k) {
      sum = std::fma(std::bit_cast<double>(f.a.at(row, k)),
                     std::bit_cast<double>(f.b.at(k, column)), sum);
    }
    const auto value = std::bit_cast<double>(got);
    ASSERT_TRUE(got == std::bit_cast<u64>(sum) || (std::isnan(sum) && std::isnan(value)))
        << where << ": " << value << ", not " << sum;
  });
}

/// A chain of FMAs with c last; for f16 pairs of products, the latter of which is added to c first.
void expect_chain(const MatrixInstruction& in, const Fragments& f, unsigned row, unsigned column,
                  u64 got, const std::string& where) {
  const auto types = in.types();
  const auto a = [&](unsigned k) { return static_cast<float>(value_of("f16", f.a.at(row, k))); };
  const auto b = [&](unsigned k) { return static_cast<float>(value_of("f16", f.b.at(k, column))); };
  const auto c = static_cast<float>(value_of(types[3], f.c.at(row, column)));
  if (types[0] == "f16") {
    const float last = std::fma(a(3), b(3), a(2) * b(2)), first = std::fma(a(1), b(1), a(0) * b(0));
    ASSERT_EQ(got, rounded(static_cast<double>(c + last + first), true)) << where;
    return;
  }
  float sum = 0;
  for (unsigned k = 0; k < 4; ++k) sum = std::fma(a(k), b(k), sum);
  sum += c;
  ASSERT_EQ(got, std::isnan(sum) ? 0x7fffffff : std::bit_cast<u32>(sum)) << where;
}

/// m8n8k4 on f16: PTX's formulas for a quad of lanes and the one above it.
TEST(Mma, QuadsMultiplyTheirOwnMatrices) {
  unsigned seen = 0;
  for (const auto& in : matrix_instructions()) {
    if (in.k() != 4 || in.types()[1] != "f16") continue;
    ++seen;
    const bool row_a = in.text.find("k4.row") != std::string::npos;
    const bool row_b = in.text.find(".row.f") != std::string::npos;
    const auto types = in.types();
    for (const MatrixInputs inputs : kMatrixInputs) {
      const MatrixOperands operands = matrix_operands(in, inputs, 7);
      const auto d = run_matrix(in, operands);
      const auto accumulator = [](const std::string& type, unsigned lane, unsigned i, unsigned& row,
                                  unsigned& column) {
        const unsigned high = lane < 16 ? 0 : 4;
        row = type == "f16" ? lane % 4 + high : (lane & 1) + (i & 2) + high;
        column = type == "f16" ? i : (i & 4) + (lane & 2) + (i & 1);
      };
      for (unsigned quad = 0; quad < 4; ++quad) {
        Fragments f(in);
        std::vector<unsigned> lanes;
        for (unsigned i = 0; i < 8; ++i) lanes.push_back(4 * quad + i % 4 + (i < 4 ? 0 : 16));
        for (const unsigned lane : lanes) {
          const unsigned high = lane < 16 ? 0 : 4;
          for (unsigned i = 0; i < 4; ++i) {
            const u64 a = element(operands.a, 16, lane, i), b = element(operands.b, 16, lane, i);
            (row_a ? f.a.at(lane % 4 + high, i) : f.a.at(i + high, lane % 4)) = a;
            (row_b ? f.b.at(lane % 4, i + high) : f.b.at(i, lane % 4 + high)) = b;
          }
          for (unsigned i = 0; i < 8; ++i) {
            unsigned row = 0, column = 0;
            accumulator(types[3], lane, i, row, column);
            f.c.at(row, column) = element(operands.c, matrix_bits(types[3]), lane, i);
          }
        }
        for (const unsigned lane : lanes) {
          for (unsigned i = 0; i < 8; ++i) {
            unsigned row = 0, column = 0;
            accumulator(types[0], lane, i, row, column);
            ASSERT_NO_FATAL_FAILURE(expect_chain(in, f, row, column,
                                                 element(d, matrix_bits(types[0]), lane, i),
                                                 label(in, inputs, row, column)));
          }
        }
      }
    }
  }
  EXPECT_EQ(seen, 4U);
}

}  // namespace
}  // namespace kbench::ptx::testing
