// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ptx/scalar_forms.hpp"

// Approximations against long double, in the bounds that the PTX manual states.
namespace kbench::ptx::testing {
namespace {

using u64 = std::uint64_t;
using Real = long double;

/// All exponents of both signs, with many fractions each.
std::vector<Tuple> sweep(const std::string& type) {
  const std::size_t count = width(type) == 16 ? std::size_t{1} << 16 : std::size_t{1} << 17;
  std::vector<Tuple> tuples(count);
  std::mt19937_64 engine(7);
  const auto value = [&](u64 i) -> u64 {
    if (type == "f64") return (i << 52) | (engine() >> 12);
    if (type == "f32") return ((i & 511) << 23) | (i < 4096 ? i >> 9 : engine() >> 41);
    const u64 bits = i & 0xffff;
    return type.ends_with("x2") ? bits | ((bits * 40503 & 0xffff) << 16) : bits;
  };
  for (std::size_t i = 0; i < count; ++i) {
    tuples[i].a = value(i);
    // Divisors of every exponent, near the dividend's and far from it.
    tuples[i].b = type == "f32" ? (value(i + (engine() & 255)) & 0xffffffff) : 0;
  }
  return tuples;
}

Real true_value(const std::string& op, Real a, Real b) {
  if (op == "rcp") return 1 / a;
  if (op == "sqrt") return std::sqrt(a);
  if (op == "rsqrt") return 1 / std::sqrt(a);
  if (op == "sin") return std::sin(a);
  if (op == "cos") return std::cos(a);
  if (op == "lg2") return std::log2(a);
  if (op == "ex2") return std::exp2(a);
  if (op == "tanh") return std::tanh(a);
  return a / b;
}

/// Range of a type: the least normal, the least subnormal, and where infinity begins.
struct Range {
  Real normal, tiny, beyond;
};
Range range_of(const std::string& type) {
  if (type.starts_with("f16")) return {0x1p-14L, 0x1p-24L, 65520.0L};
  if (type.starts_with("bf16")) return {0x1p-126L, 0x1p-133L, 0x1.ffp127L};
  if (type == "f64") return {0x1p-1022L, 0x1p-1074L, 0x1.fffffffffffff8p1023L};
  return {0x1p-126L, 0x1p-149L, 0x1.ffffffp127L};
}

/// div.approx has another result for large divisors: 0, or NaN for an infinite dividend.
bool large_divisor(const Form& form, Real b) {
  return form.name[0] == "div" && form.has("approx") && std::fabs(b) > 0x1p126L && std::isfinite(b);
}

bool within(const Form& form, Real a, Real b, Real got) {
  const Range range = range_of(form.results[0]);
  const bool ftz = form.has("ftz");
  const auto flushed = [&](Real x) {
    return ftz && std::fabs(x) < range.normal ? std::copysign(0.0L, x) : x;
  };
  a = flushed(a);
  b = flushed(b);
  const Real want = large_divisor(form, b) ? a * 0 : true_value(form.name[0], a, b);
  if (std::isnan(want)) return std::isnan(got);
  if (form.how[0] == 's' && std::fabs(a) > 3.1415926L) return std::fabs(got) <= 1;
  if (std::isinf(want) || want == 0) return got == want;
  const Real bound = std::ldexp(1.0L, -std::stoi(form.how.substr(1)));
  const bool relative = form.how[0] == 'r' || form.how[0] == 'm';
  const bool absolute = form.how[0] != 'r';
  if (std::fabs(want) * (1 + bound) >= range.beyond && std::isinf(got)) return got * want > 0;
  const Real error = std::fabs(got - want);
  return (absolute && error <= bound) ||
         (relative && error <= bound * std::fabs(want) + (ftz ? range.normal : range.tiny));
}

TEST(ScalarApproximations, are_within_the_bounds_of_the_manual) {
  std::size_t forms = 0;
  for (const Form& form : read_forms()) {
    if (!form.approximate()) continue;
    ++forms;
    const std::string& type = form.results[0];
    const auto tuples = sweep(type);
    const auto results = run_form(form, tuples);
    const unsigned parts = type.ends_with("x2") ? 2 : 1;
    int shown = 0;
    for (std::size_t i = 0; i < tuples.size() && shown < 3; ++i) {
      for (unsigned part = 0; part < parts; ++part) {
        const u64 mask = parts == 2 ? 0xffff : ~u64{0};
        const u64 a = (tuples[i].a >> (16 * part)) & mask, d = (results[i].d >> (16 * part)) & mask;
        const Real b = type == "f32" ? value_of(type, tuples[i].b) : 0;
        if (within(form, value_of(type, a), b, value_of(type, d))) continue;
        ++shown;
        ADD_FAILURE() << fmt::format("{} of {:x} ({}), {:x} ({}) gives {:x} ({})", form.code, a,
                                     value_of(type, a), tuples[i].b, b, d, value_of(type, d));
      }
    }
  }
  EXPECT_GE(forms, 30U);
}

}  // namespace
}  // namespace kbench::ptx::testing
