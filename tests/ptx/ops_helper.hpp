// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {

/// Edge values of a type and random ones: all bit patterns of integers, all magnitudes of floats.
template <class T>
std::vector<T> samples(std::size_t count, unsigned seed) {
  std::vector<T> values;
  if constexpr (std::is_floating_point_v<T>) {
    using L = std::numeric_limits<T>;
    for (const T v :
         {T{0}, T{1}, T{0.5}, T{1.5}, T{2.5}, T{255.5}, T{32767.5}, T{2147483648.0},
          T{4294967296.0}, T{9223372036854775808.0}, L::min(), L::denorm_min(), L::max(),
          L::infinity(), L::quiet_NaN(), T{65504}, T{65520}, T{1} + L::epsilon()}) {
      values.push_back(v);
      values.push_back(-v);
    }
  } else {
    using U = std::make_unsigned_t<T>;
    for (const U v : {U{0}, U{1}, U{2}, U{31}, U{32}, U{33}, U{63}, U{64}, U{127}, U{255},
                      static_cast<U>(~U{0}), static_cast<U>(~U{0} - 1),
                      static_cast<U>(U{1} << (8 * sizeof(T) - 1)),
                      static_cast<U>((U{1} << (8 * sizeof(T) - 1)) - 1)}) {
      values.push_back(static_cast<T>(v));
    }
  }
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0, 30);
  while (values.size() < count) {
    if constexpr (std::is_floating_point_v<T>) {
      using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      values.push_back(engine() % 3 == 0 ? std::bit_cast<T>(static_cast<U>(engine()))
                                         : static_cast<T>(normal(engine)));
    } else {
      values.push_back(static_cast<T>(engine() >> (engine() % (8 * sizeof(T)))));
    }
  }
  std::shuffle(values.begin(), values.end(), engine);
  return values;
}

template <class T>
std::string type_of_register() {
  return fmt::format(".b{}", std::max<std::size_t>(8 * sizeof(T), 16));
}

constexpr std::size_t kSamples = 2048;

/// Runs `code` for many values: "%d" is the result, "%a", "%b", "%c" are the operands, %p and %q
/// scratch predicates. Once for whole warps, once for a part of their lanes.
template <class D, class A, class B, class C>
std::vector<D> execute(const std::string& code, std::vector<A> a, std::vector<B> b,
                       std::vector<C> c, bool divergent) {
  const auto load_line = [](const char* name, std::size_t bytes, int index) {
    return fmt::format(
        "ld.param.u64 %at, [k_param_{0}]; mad.wide.u32 %at, %i, {1}, %at; ld.global.b{2} {3}, "
        "[%at];\n",
        index, bytes, 8 * bytes, name);
  };
  const std::string text = fmt::format(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 k_param_0, "
      ".param .u64 k_param_1, .param .u64 k_param_2, .param .u64 k_param_3) {{\n"
      ".reg {0} %d; .reg {1} %a; .reg {2} %b; .reg {3} %c; .reg .pred %p, %q, %g;\n"
      ".reg .b32 %i, %n, %x, %y, %z; .reg .b64 %at, %w; .reg .b16 %h, %l;\n"
      "mov.u32 %i, %ctaid.x; mov.u32 %n, %tid.x; mad.lo.u32 %i, %i, 64, %n;\n"
      "{4}{5}{6}"
      "and.b32 %n, %i, 3; setp.eq.u32 %g, %n, 3;\n"
      "{7}\n"
      "{8}\n"
      "ld.param.u64 %at, [k_param_0]; mad.wide.u32 %at, %i, {9}, %at; st.global.b{10} [%at], %d;\n"
      "DONE: ret; }}\n",
      type_of_register<D>(), type_of_register<A>(), type_of_register<B>(), type_of_register<C>(),
      load_line("%a", sizeof(A), 1), load_line("%b", sizeof(B), 2), load_line("%c", sizeof(C), 3),
      divergent ? "@%g bra DONE;" : "", code, sizeof(D), 8 * sizeof(D));
  auto loaded = load(text);
  if (const auto* unsupported = std::get_if<Unsupported>(&loaded)) {
    ADD_FAILURE() << code << ": " << unsupported->instruction << " " << unsupported->message;
    return std::vector<D>(a.size());
  }
  std::vector<D> d(a.size());
  const auto region = [](auto& v, const char* name) {
    return Region{name, reinterpret_cast<std::byte*>(v.data()), v.size() * sizeof(v[0]), 0, 0,
                  true};
  };
  Launch launch;
  launch.kernel = "k";
  launch.block = {64, 1, 1};
  launch.grid = {static_cast<std::uint32_t>(a.size() / 64), 1, 1};
  launch.arguments = arguments(d.data(), a.data(), b.data(), c.data());
  run(std::get<Module>(loaded), launch,
      {region(d, "d"), region(a, "a"), region(b, "b"), region(c, "c")});
  return d;
}

template <class T>
bool same(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    return x == y && std::signbit(x) == std::signbit(y);
  } else {
    return x == y;
  }
}

/// Compares the instruction with the host's function on every sample, bit for bit (NaN as NaN).
template <class D, class A, class B, class C, class F>
void check(const std::string& code, F expected, bool (*equal)(D, D) = &same<D>) {
  const auto a = samples<A>(kSamples, 1);
  auto b = samples<B>(kSamples, 2);
  if constexpr (std::is_same_v<A, B>) {
    for (std::size_t i = 0; i < kSamples; i += 8) b[i] = a[i];  // equal operands are an edge, too
  }
  const auto c = samples<C>(kSamples, 3);
  int shown = 0;
  for (const bool divergent : {false, true}) {
    const auto d = execute<D>(code, a, b, c, divergent);
    for (std::size_t i = 0; i < kSamples && shown < 3; ++i) {
      if (divergent && i % 4 == 3) {
        EXPECT_EQ(d[i], D{}) << code << ": a lane that was not active wrote";
        continue;
      }
      const D want = expected(a[i], b[i], c[i]);
      if (equal(d[i], want)) continue;
      ++shown;
      ADD_FAILURE() << fmt::format("{} with a = {}, b = {}, c = {} gives {}, not {} ({})", code,
                                   a[i], b[i], c[i], d[i], want,
                                   divergent ? "divergent" : "whole warp");
    }
  }
}

}  // namespace kbench::ptx::testing
