// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <functional>

#include "ptx/nvrtc_helper.hpp"

// Loads and stores whose lanes lie in every way that has one of its own, by whole and partial
// warps, and addresses that change between two accesses.
namespace kbench::ptx::testing {
namespace {

struct Pattern {
  const char* name;
  const char* index;  ///< of an element, in CUDA
  std::function<int(int)> expected;
};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> kPatterns{
      {"uniform", "5", [](int) { return 5; }},
      {"consecutive", "t", [](int t) { return t; }},
      {"strided", "t * 3", [](int t) { return t * 3; }},
      {"wide_strides", "t * 40 + 1", [](int t) { return t * 40 + 1; }},
      {"backward", "63 - t", [](int t) { return 63 - t; }},
      {"halves_uniform", "t / 16", [](int t) { return t / 16; }},
      {"halves_consecutive", "t % 16", [](int t) { return t % 16; }},
      {"rows_of_16", "t / 16 * 1000 + t % 16", [](int t) { return t / 16 * 1000 + t % 16; }},
      {"rows_of_8", "t / 8 * 300 + t % 8", [](int t) { return t / 8 * 300 + t % 8; }},
      {"rows_uniform", "t / 8 * 300", [](int t) { return t / 8 * 300; }},
      {"scattered", "(t * 37 + 11) % 64", [](int t) { return (t * 37 + 11) % 64; }},
      {"far_apart", "(t * 73 + 5) % 64 * 50", [](int t) { return (t * 73 + 5) % 64 * 50; }},
      {"but_one", "t == 13 ? 40 : t", [](int t) { return t == 13 ? 40 : t; }},
  };
  return kPatterns;
}

/// Which of 64 threads take part: full warps, tails, holes, a single one.
const std::vector<std::pair<const char*, std::function<bool(int)>>>& masks() {
  static const std::vector<std::pair<const char*, std::function<bool(int)>>> kMasks{
      {"true", [](int) { return true; }},         {"t < 43", [](int t) { return t < 43; }},
      {"t >= 7", [](int t) { return t >= 7; }},   {"t % 3 != 1", [](int t) { return t % 3 != 1; }},
      {"t == 38", [](int t) { return t == 38; }},
  };
  return kMasks;
}

constexpr int kElements = 4000;

class Shapes : public ::testing::TestWithParam<const char*> {};

/// y = x[index] for those of the mask, through global, shared and generic addresses.
TEST_P(Shapes, loads) {
  KBENCH_NEEDS_NVRTC();
  const std::string type = GetParam();
  for (const Pattern& pattern : patterns()) {
    for (const auto& [mask, takes_part] : masks()) {
      Module module = load_source(fmt::format(
          R"(extern "C" __global__ void k(const {0}* x, int* y, int which) {{
               __shared__ {0} s[{1}];
               int t = threadIdx.x;
               for (int i = t; i < {1}; i += 64) s[i] = x[i];
               __syncthreads();
               const {0}* either = which ? x : s;
               if ({3}) {{
                 y[t * 4] = (int)x[{2}];
                 y[t * 4 + 1] = (int)s[{2}];
                 y[t * 4 + 2] = (int)((volatile const {0}*)either)[{2}];
                 y[t * 4 + 3] = (int)x[{2} + 1] + (int)s[{2} + 3];
               }}
             }})",
          type, kElements, pattern.index, mask));
      const std::size_t bytes = type == "double" || type == "long long" ? 8
                                : type == "short"                       ? 2
                                : type == "signed char"                 ? 1
                                                                        : 4;
      const auto value = [&](int i) { return bytes == 1 ? i % 100 : i; };
      Buffer<std::uint64_t> x("x", kElements * bytes / 8);
      for (int i = 0; i < kElements; ++i) {
        auto* at = reinterpret_cast<std::byte*>(x.data()) + static_cast<std::size_t>(i) * bytes;
        const auto put = [&](auto v) { std::memcpy(at, &v, sizeof v); };
        if (type == "double") put(static_cast<double>(value(i)));
        if (type == "long long") put(static_cast<std::int64_t>(value(i)));
        if (type == "short") put(static_cast<std::int16_t>(value(i)));
        if (type == "signed char") put(static_cast<std::int8_t>(value(i)));
        if (type == "float") put(static_cast<float>(value(i)));
      }
      for (const int which : {0, 1}) {
        Buffer<int> y("y", 256, -1);
        Launch launch;
        launch.kernel = "k";
        launch.block = {64, 1, 1};
        launch.arguments = arguments(x.data(), y.data(), which);
        run(module, launch, {x.region(false), y.region()});
        for (int t = 0; t < 64; ++t) {
          const auto at = static_cast<std::size_t>(t) * 4;
          const int i = pattern.expected(t);
          const bool takes = takes_part(t);
          for (std::size_t k = 0; k < 3; ++k) {
            ASSERT_EQ(y[at + k], takes ? value(i) : -1)
                << pattern.name << ", " << mask << ", thread " << t << ", " << k;
          }
          ASSERT_EQ(y[at + 3], takes ? value(i + 1) + value(i + 3) : -1)
              << pattern.name << ", " << mask << ", thread " << t;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Shapes,
                         ::testing::Values("float", "double", "short", "signed char"));

/// Vectors of 2 and 4 elements, loaded and stored.
TEST(Shapes, vectors) {
  KBENCH_NEEDS_NVRTC();
  for (const Pattern& pattern : patterns()) {
    for (const auto& [mask, takes_part] : masks()) {
      Module module = load_source(fmt::format(
          R"(extern "C" __global__ void k(const float4* x, float4* y, const float2* u, float2* v) {{
               __shared__ float4 s[3000];
               int t = threadIdx.x;
               for (int i = t; i < 3000; i += 64) s[i] = x[i];
               __syncthreads();
               if ({1}) {{
                 float4 a = x[{0}], b = s[{0}];
                 y[{0}] = make_float4(a.x, a.y + b.y, b.z, a.w + b.w);
                 v[{0}] = u[{0}];
               }}
             }})",
          pattern.index, mask));
      Buffer<float> x("x", kElements * 4), y("y", kElements * 4, -1), u("u", kElements * 2),
          v("v", kElements * 2, -1);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
      for (std::size_t i = 0; i < u.size(); ++i) u[i] = static_cast<float>(i);
      Launch launch;
      launch.kernel = "k";
      launch.block = {64, 1, 1};
      launch.arguments = arguments(x.data(), y.data(), u.data(), v.data());
      run(module, launch, {x.region(false), y.region(), u.region(false), v.region()});
      std::vector<bool> written(kElements, false);
      for (int t = 0; t < 64; ++t) {
        if (takes_part(t)) written[static_cast<std::size_t>(pattern.expected(t))] = true;
      }
      for (std::size_t i = 0; i < kElements; ++i) {
        for (std::size_t k = 0; k < 4; ++k) {
          const auto value = static_cast<float>(4 * i + k) * (k % 2 == 1 ? 2.0F : 1.0F);
          ASSERT_EQ(y[4 * i + k], written[i] ? value : -1)
              << pattern.name << ", " << mask << ", " << i << ", " << k;
        }
        ASSERT_EQ(v[2 * i], written[i] ? static_cast<float>(2 * i) : -1) << pattern.name;
        ASSERT_EQ(v[2 * i + 1], written[i] ? static_cast<float>(2 * i + 1) : -1) << pattern.name;
      }
    }
  }
}

/// Where lanes write to one place the highest wins, whatever the pattern.
TEST(Shapes, lanes_that_meet) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void k(int* y, int4* z) {
      int t = threadIdx.x;
      y[0] = t;
      y[1 + t / 4] = t;
      z[t / 8] = make_int4(t, t, t, t);
    })");
  Buffer<int> y("y", 9), z("z", 16);
  Launch launch;
  launch.kernel = "k";
  launch.block = {32, 1, 1};
  launch.arguments = arguments(y.data(), z.data());
  run(module, launch, {y.region(), z.region()});
  EXPECT_EQ(y[0], 31);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(y[1 + i], static_cast<int>(4 * i + 3)) << i;
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(z[i], static_cast<int>(i / 4 * 8 + 7)) << i;
}

/// Pointers that lanes move by themselves: what was known of a register is forgotten with each
/// write, by any part of the warp.
TEST(Shapes, addresses_that_change) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void k(const int* x, const int* next, int* y, int rounds) {
      int t = threadIdx.x, at = t, sum = 0;
      const int* p = x + t;
      for (int r = 0; r < rounds + t % 5; ++r) {
        sum += p[0] + 3 * p[1];
        if ((t + r) % 3 == 0) p = x + (t * 7 + r) % 90;
        sum += p[0] ^ p[1];
        if (r % 4 == 1) ++p;
        at = next[at];
        sum += x[at] - x[at + 1];
      }
      y[t] = sum;
    })");
  Buffer<int> x("x", 200), next("next", 100), y("y", 64);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * i % 101);
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = static_cast<int>((i * 13 + 7) % 100);
  Launch launch;
  launch.kernel = "k";
  launch.block = {64, 1, 1};
  launch.arguments = arguments(x.data(), next.data(), y.data(), 40);
  run(module, launch, {x.region(false), next.region(false), y.region()});
  for (int t = 0; t < 64; ++t) {
    auto at = static_cast<std::size_t>(t), p = at;
    int sum = 0;
    for (int r = 0; r < 40 + t % 5; ++r) {
      sum += x[p] + 3 * x[p + 1];
      if ((t + r) % 3 == 0) p = static_cast<std::size_t>((t * 7 + r) % 90);
      sum += x[p] ^ x[p + 1];
      if (r % 4 == 1) ++p;
      at = static_cast<std::size_t>(next[at]);
      sum += x[at] - x[at + 1];
    }
    EXPECT_EQ(y[static_cast<std::size_t>(t)], sum) << t;
  }
}

/// One lane outside of its buffer is found in every pattern.
TEST(Shapes, bounds) {
  KBENCH_NEEDS_NVRTC();
  for (const Pattern& pattern : patterns()) {
    int most = 0;
    for (int t = 0; t < 32; ++t) most = std::max(most, pattern.expected(t));
    for (const char* body : {"y[t] = x[%s];", "x[%s] = t; y[0] = 0;"}) {
      std::string text = body;
      text.replace(text.find("%s"), 2, pattern.index);
      Module module = load_source(
          "extern \"C\" __global__ void k(int* x, int* y) { int t = "
          "threadIdx.x; " +
          text + " }");
      for (const int missing : {0, 1}) {
        Buffer<int> x("x", static_cast<std::size_t>(most + 1 - missing)), y("y", 32);
        Launch launch;
        launch.kernel = "k";
        launch.block = {32, 1, 1};
        launch.arguments = arguments(x.data(), y.data());
        if (missing == 0) {
          run(module, launch, {x.region(), y.region()});
          continue;
        }
        const Fault fault = run_to_fault(module, launch, {x.region(), y.region()});
        EXPECT_EQ(fault.region, "x") << pattern.name;
        EXPECT_EQ(fault.offset_bytes, 4 * most) << pattern.name;
      }
    }
  }
}

}  // namespace
}  // namespace kbench::ptx::testing
