// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>
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
      {"rows_of_16", "t / 16 * 600 + t % 16", [](int t) { return t / 16 * 600 + t % 16; }},
      {"rows_of_8", "t / 8 * 300 + t % 8", [](int t) { return t / 8 * 300 + t % 8; }},
      {"rows_uniform", "t / 8 * 300", [](int t) { return t / 8 * 300; }},
      {"scattered", "(t * 37 + 11) % 64", [](int t) { return (t * 37 + 11) % 64; }},
      {"far_apart", "(t * 73 + 5) % 64 * 40", [](int t) { return (t * 73 + 5) % 64 * 40; }},
      {"but_one", "(t == 13 ? 40 : t)", [](int t) { return t == 13 ? 40 : t; }},
  };
  return kPatterns;
}

/// Which of 64 threads take part: full warps, tails, holes, a single one.
constexpr std::uint64_t kMasks[] = {~0ULL, (1ULL << 43) - 1, ~0ULL << 7, 0x6db6db6d9249b6dbULL,
                                    1ULL << 38};

constexpr int kElements = 4000;

/// A kernel k0, k1 … for each pattern: `text` with the index in the place of INDEX.
Module kernels_of(const std::string& text) {
  std::string source;
  for (std::size_t i = 0; i < patterns().size(); ++i) {
    std::string kernel = text;
    kernel.replace(kernel.find("NAME"), 4, fmt::format("k{}", i));
    for (std::size_t at = 0; (at = kernel.find("INDEX", at)) != std::string::npos;) {
      kernel.replace(at, 5, patterns()[i].index);
    }
    source += kernel;
  }
  return load_source(source);
}

template <class T>
class Loads : public ::testing::Test {};
using Types = ::testing::Types<float, double, short, signed char, long long>;
TYPED_TEST_SUITE(Loads, Types);

template <class T>
constexpr const char* kTypeName = "long long";
template <>
constexpr const char* kTypeName<float> = "float";
template <>
constexpr const char* kTypeName<double> = "double";
template <>
constexpr const char* kTypeName<short> = "short";
template <>
constexpr const char* kTypeName<signed char> = "signed char";

/// Four loads a thread: global, shared, generic, and two of each with displacements.
TYPED_TEST(Loads, of_all_patterns) {
  KBENCH_NEEDS_NVRTC();
  Module module = kernels_of(fmt::format(
      R"(extern "C" __global__ void NAME(const {0}* x, int* y, int which,
                                         unsigned long long mask) {{
           __shared__ {0} s[{1}];
           int t = threadIdx.x;
           for (int i = t; i < {1}; i += 64) s[i] = x[i];
           __syncthreads();
           const {0}* either = which ? x : s;
           if (mask >> t & 1) {{
             y[t * 4] = (int)x[INDEX];
             y[t * 4 + 1] = (int)s[INDEX];
             y[t * 4 + 2] = (int)((volatile const {0}*)either)[INDEX];
             y[t * 4 + 3] = (int)x[INDEX + 1] + (int)s[INDEX + 3];
           }}
         }})",
      kTypeName<TypeParam>, kElements));
  const auto value = [](int i) { return i % 100; };
  Buffer<TypeParam> x("x", kElements);
  for (int i = 0; i < kElements; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<TypeParam>(value(i));
  }
  for (std::size_t p = 0; p < patterns().size(); ++p) {
    for (const std::uint64_t mask : kMasks) {
      for (const int which : {0, 1}) {
        Buffer<int> y("y", 256, -1);
        const Launch launch =
            launch_of(fmt::format("k{}", p), 1, 64, arguments(x.data(), y.data(), which, mask));
        run(module, launch, {x.region(false), y.region()});
        for (int t = 0; t < 64; ++t) {
          const int i = patterns()[p].expected(t);
          const std::array<int, 4> all{value(i), value(i), value(i), value(i + 1) + value(i + 3)};
          for (std::size_t k = 0; k < 4; ++k) {
            ASSERT_EQ(y[static_cast<std::size_t>(t) * 4 + k], (mask >> t & 1) != 0 ? all[k] : -1)
                << patterns()[p].name << ", " << mask << ", thread " << t << ", " << k;
          }
        }
      }
    }
  }
}

/// Vectors of 2 and 4 elements, loaded and stored.
TEST(Shapes, vectors) {
  KBENCH_NEEDS_NVRTC();
  Module module = kernels_of(R"(
    extern "C" __global__ void NAME(const float4* x, float4* y, const float2* u, float2* v,
                                    unsigned long long mask) {
      __shared__ float4 s[2600];
      int t = threadIdx.x;
      for (int i = t; i < 2600; i += 64) s[i] = x[i];
      __syncthreads();
      if (mask >> t & 1) {
        float4 a = x[INDEX], b = s[INDEX];
        y[INDEX] = make_float4(a.x, a.y + b.y, b.z, a.w + b.w);
        v[INDEX] = u[INDEX];
      }
    })");
  Buffer<float> x("x", kElements * 4), u("u", kElements * 2);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = static_cast<float>(i);
  for (std::size_t p = 0; p < patterns().size(); ++p) {
    for (const std::uint64_t mask : kMasks) {
      Buffer<float> y("y", kElements * 4, -1), v("v", kElements * 2, -1);
      const Launch launch = launch_of(fmt::format("k{}", p), 1, 64,
                                      arguments(x.data(), y.data(), u.data(), v.data(), mask));
      run(module, launch, {x.region(false), y.region(), u.region(false), v.region()});
      std::vector<bool> written(kElements, false);
      for (int t = 0; t < 64; ++t) {
        const auto at = static_cast<std::size_t>(patterns()[p].expected(t));
        written[at] = written[at] || (mask >> t & 1) != 0;
      }
      for (std::size_t i = 0; i < y.size(); ++i) {
        const float value = static_cast<float>(i) * (i % 2 == 1 ? 2.0F : 1.0F);
        ASSERT_EQ(y[i], written[i / 4] ? value : -1) << patterns()[p].name << ", " << mask;
      }
      for (std::size_t i = 0; i < v.size(); ++i) {
        ASSERT_EQ(v[i], written[i / 2] ? static_cast<float>(i) : -1) << patterns()[p].name;
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
  const Launch launch = launch_of("k", 1, 32, arguments(y.data(), z.data()));
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
  const Launch launch = launch_of("k", 1, 64, arguments(x.data(), next.data(), y.data(), 40));
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

/// A pointer that is loaded through itself.
TEST(Shapes, lists) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    struct Node { Node* next; long long value, more; };
    extern "C" __global__ void k(Node* nodes, long long* y, int rounds) {
      Node* p = nodes + threadIdx.x;
      long long sum = 0;
      for (int r = 0; r < rounds; ++r) {
        sum = sum * 3 + p->value;
        p = p->next;
        sum += p->more;
      }
      y[threadIdx.x] = sum;
    })");
  constexpr std::size_t kNodes = 50;
  Buffer<std::int64_t> nodes("nodes", kNodes * 3), y("y", 32);
  const auto next = [](std::size_t i) { return (i * 17 + 5) % kNodes; };
  for (std::size_t i = 0; i < kNodes; ++i) {
    nodes[3 * i] = reinterpret_cast<std::int64_t>(&nodes[3 * next(i)]);
    nodes[3 * i + 1] = static_cast<std::int64_t>(i);
    nodes[3 * i + 2] = static_cast<std::int64_t>(i * i);
  }
  const Launch launch = launch_of("k", 1, 32, arguments(nodes.data(), y.data(), 10));
  run(module, launch, {nodes.region(), y.region()});
  for (std::size_t t = 0; t < 32; ++t) {
    std::int64_t sum = 0;
    std::size_t at = t;
    for (int r = 0; r < 10; ++r) {
      sum = sum * 3 + nodes[3 * at + 1];
      at = next(at);
      sum += nodes[3 * at + 2];
    }
    EXPECT_EQ(y[t], sum) << t;
  }
}

/// One lane outside of its buffer is found in every pattern.
TEST(Shapes, bounds) {
  KBENCH_NEEDS_NVRTC();
  for (const char* body : {"y[t] = x[INDEX];", "x[INDEX] = t; y[0] = 0;"}) {
    Module module = kernels_of(fmt::format(
        "extern \"C\" __global__ void NAME(int* x, int* y) {{ int t = threadIdx.x; {} }}", body));
    for (std::size_t p = 0; p < patterns().size(); ++p) {
      int most = 0;
      for (int t = 0; t < 32; ++t) most = std::max(most, patterns()[p].expected(t));
      for (const int missing : {0, 1}) {
        Buffer<int> x("x", static_cast<std::size_t>(most + 1 - missing)), y("y", 32);
        const Launch launch =
            launch_of(fmt::format("k{}", p), 1, 32, arguments(x.data(), y.data()));
        if (missing == 0) {
          run(module, launch, {x.region(), y.region()});
          continue;
        }
        const Fault fault = run_to_fault(module, launch, {x.region(), y.region()});
        EXPECT_EQ(fault.region, "x") << patterns()[p].name;
        EXPECT_EQ(fault.offset_bytes, 4 * most) << patterns()[p].name;
      }
    }
  }
}

}  // namespace
}  // namespace kbench::ptx::testing
