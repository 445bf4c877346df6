// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <cmath>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Lines are counted from the one behind R"(, which is the second.
constexpr const char* kSource = R"(
extern "C" __global__ void tile_without_border(const float* x, float* y) {
  __shared__ float s[40];
  s[threadIdx.x + 4] = x[threadIdx.x];
  __syncthreads();
  y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];                 // line 6
}
extern "C" __global__ void copies(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;                               // line 9
}
extern "C" __global__ void copies_bytes(const unsigned char* x, unsigned char* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;                               // line 12
}
extern "C" __global__ void copies_vectors(const float4* x, float* y) {
  float4 v = x[threadIdx.x];                                         // line 15
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
extern "C" __global__ void adds(float* y) { atomicAdd(y, 1.0f); }    // line 18
extern "C" __global__ void swaps(int* y) { atomicExch(y, 1); }
extern "C" __global__ void writes_ones(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = -1;
  if (threadIdx.x < 5) s[32 + threadIdx.x] = -1;
  y[threadIdx.x] = -1;
  __syncthreads();
  int sum = s[31 - threadIdx.x] + y[threadIdx.x];
  if (threadIdx.x < 5) sum += s[32 + 4 - threadIdx.x];
  y[threadIdx.x] = sum;
}
extern "C" __global__ void partial_local(int* y, int n) {
  int a[16];
  for (int i = 0; i < n; ++i) a[(i * 7 + threadIdx.x) & 15] = i;
  y[threadIdx.x] = a[(threadIdx.x + 3) & 15] * 2;                    // line 33
}
struct Padded { char a; int b; double c; };
extern "C" __global__ void padding(Padded* y, int n) {
  __shared__ Padded s[32];
  Padded p; p.a = 1; p.b = n; p.c = 2.0;
  s[threadIdx.x] = p;
  __syncthreads();
  Padded local[4];
  for (int i = 0; i < 4; ++i) { local[i].a = i; local[i].b = n; local[i].c = i; }
  Padded chosen = local[(threadIdx.x + n) & 3];
  y[threadIdx.x] = s[31 - threadIdx.x];
  y[32 + threadIdx.x] = chosen;
}
__device__ __noinline__ int by_value(Padded p, int i) { return p.a + p.b + i; }
__device__ __noinline__ Padded makes(int n) { Padded p; p.b = n; p.c = n; p.a = -1; return p; }
extern "C" __global__ void calls(int* y, int n) {
  Padded p = makes(n);
  y[threadIdx.x] = by_value(p, -1);
}
struct Three { float v[3]; };
extern "C" __global__ void three(float* y, int n) {
  Three a[3];
  for (int i = 0; i < n; ++i) for (int k = 0; k < 3; ++k) a[i].v[k] = i + k;
  Three b[3];
  for (int i = 0; i < 3; ++i) b[i] = a[i];
  y[threadIdx.x] = b[threadIdx.x % n].v[threadIdx.x % 3];
}
union Either { double d; int i[2]; };
extern "C" __global__ void either(double* y, int n) {
  Either u[4];
  for (int k = 0; k < 4; ++k) { u[k].i[0] = n; u[k].i[1] = n; }
  y[threadIdx.x] = u[(threadIdx.x + n) & 3].d;
}
extern "C" __global__ void divided(int* y) {
  __shared__ int s;
  if (threadIdx.x < 8) {
    y[threadIdx.x] = 1;
    asm volatile("bar.sync 0;");                                     // line 71
    s = y[0];
  } else {
    asm volatile("bar.sync 0;");                                     // line 74
  }
  y[threadIdx.x] = 2;
}
extern "C" __global__ void early(int* y, int n) {
  if (threadIdx.x >= n) return;
  __syncthreads();
  y[threadIdx.x] = 1;
}
extern "C" __global__ void two_places(int* y) {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");             // line 84
  else asm volatile("bar.sync 2, 64;");                              // line 85
  y[threadIdx.x] = 1;
}
extern "C" __global__ void past_end(float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 1.0f;                                                       // line 90
  if (threadIdx.x == 1) y[i + n] = 1.0f;                             // line 91
}
)";

class Sanitizers : public WithModule<kSource> {
 protected:
  Result run(const std::string& kernel, std::vector<std::vector<std::byte>> values,
             const std::vector<Region>& regions, unsigned threads = 32, unsigned blocks = 1) {
    const Launch launch = launch_of(kernel, blocks, threads, std::move(values));
    options_.sanitize = Sanitize::kMemory;
    return kbench::ptx::launch(*module_, regions, launch, options_);
  }

  Options options_;
};

/// A buffer as the caller prepares it: filled with ones, and watched.
template <class T>
class Fresh : public Buffer<T> {
 public:
  Fresh(const std::string& name, std::size_t count)
      : Buffer<T>(name, count), written_(count * sizeof(T)) {
    std::memset(this->data(), 0xff, count * sizeof(T));
  }
  Region watched() {
    Region region = this->region();
    region.written = &written_;
    return region;
  }

 private:
  Written written_;
};

void expect_undefined(const Result& result, int line, const std::string& region,
                      std::int64_t offset, std::uint64_t count) {
  EXPECT_FALSE(result.fault);
  ASSERT_THAT(result.findings, SizeIs(1));
  const Finding& found = result.findings[0];
  EXPECT_EQ(found.kind, FindingKind::kUninitialized);
  EXPECT_EQ(found.line, line) << found.message;
  EXPECT_EQ(found.region, region);
  EXPECT_EQ(found.offset_bytes, offset);
  EXPECT_EQ(found.count, count);
}

TEST_F(Sanitizers, shared_memory_that_nobody_has_written) {
  Buffer<float> x("input x", 32, 1.0F), y("output y", 32);
  const Result got =
      run("tile_without_border", arguments(x.data(), y.data()), {x.region(false), y.region()});
  expect_undefined(got, 6, "shared memory", 0, 4);
  EXPECT_EQ(got.findings[0].thread[0], 0U);
  EXPECT_THAT(
      got.findings[0].message,
      HasSubstr("thread (0, 0, 0) of block (0, 0, 0) reads 4 uninitialized bytes at offset 0 "
                "of shared memory, which has 160 bytes (index 0 of 40 elements)"));
  EXPECT_THAT(got.findings[0].message, HasSubstr("kernel.cu:6)"));
}

TEST_F(Sanitizers, threads_of_all_blocks_are_counted) {
  Buffer<float> x("input x", 32, 1.0F), y("output y", std::size_t{32} * 100);
  const Result got = run("tile_without_border", arguments(x.data(), y.data()),
                         {x.region(false), y.region()}, 32, 100);
  expect_undefined(got, 6, "shared memory", 0, 400);
}

TEST_F(Sanitizers, global_memory_is_written_by_one_launch_and_read_by_another) {
  Buffer<int> x("input x", 32, 1);
  Fresh<int> t("scratch t", 40);
  Buffer<int> y("output y", 40);
  const std::vector<Region> regions{x.region(false), t.watched(), y.region()};
  EXPECT_THAT(run("copies", arguments(x.data(), t.data()), regions).findings, IsEmpty());
  EXPECT_THAT(run("copies", arguments(t.data(), y.data()), regions).findings, IsEmpty());
  expect_undefined(run("copies", arguments(t.data(), y.data()), regions, 40), 9, "scratch t", 128,
                   8);
}

TEST_F(Sanitizers, ones_that_were_written_are_no_undefined_memory) {
  Fresh<int> y("output y", 32);
  EXPECT_THAT(run("writes_ones", arguments(y.data()), {y.watched()}).findings, IsEmpty());
}

TEST_F(Sanitizers, bytes_and_vectors) {
  Fresh<unsigned char> t("scratch t", 64);
  Buffer<unsigned char> y("output y", 64);
  const std::vector<Region> regions{t.watched(), y.region()};
  t[0] = t[5] = 7;
  expect_undefined(run("copies_bytes", arguments(t.data(), y.data()), regions), 12, "scratch t", 2,
                   28);
  Fresh<float> v("scratch v", 128);
  Buffer<float> z("output z", 32);
  for (std::size_t i = 0; i < 126; ++i) v[i] = 1.0F;
  expect_undefined(run("copies_vectors", arguments(v.data(), z.data()), {v.watched(), z.region()}),
                   15, "scratch v", 504, 1);
}

TEST_F(Sanitizers, atomics_read_what_they_change) {
  Fresh<float> y("output y", 1);
  expect_undefined(run("adds", arguments(y.data()), {y.watched()}), 18, "output y", 0, 1);
  Fresh<int> z("output z", 1);
  EXPECT_THAT(run("swaps", arguments(z.data()), {z.watched()}).findings, IsEmpty());
}

TEST_F(Sanitizers, local_memory) {
  Buffer<int> y("output y", 32);
  const Result got = run("partial_local", arguments(y.data(), 1), {y.region()});
  ASSERT_THAT(got.findings, SizeIs(1));
  EXPECT_EQ(got.findings[0].line, 33);
  EXPECT_EQ(got.findings[0].region, "local memory");
  EXPECT_EQ(got.findings[0].count, 32U);
  EXPECT_THAT(run("partial_local", arguments(y.data(), 16), {y.region()}).findings, IsEmpty());
}

TEST_F(Sanitizers, copies_of_padding_are_no_use_of_it) {
  struct Padded {
    char a;
    int b;
    double c;
  };
  Fresh<Padded> p("output p", 64);
  EXPECT_THAT(run("padding", arguments(p.data(), 3), {p.watched()}).findings, IsEmpty());
  Buffer<int> y("output y", 32);
  EXPECT_THAT(run("calls", arguments(y.data(), -1), {y.region()}).findings, IsEmpty());
  EXPECT_EQ(y[0], -3);
  Buffer<float> z("output z", 32);
  EXPECT_THAT(run("three", arguments(z.data(), 2), {z.region()}).findings, IsEmpty());
  Buffer<double> d("output d", 32);
  EXPECT_THAT(run("either", arguments(d.data(), 3), {d.region()}).findings, IsEmpty());
}

TEST_F(Sanitizers, nothing_is_looked_for_that_nobody_asked_for) {
  Buffer<float> x("input x", 32, 1.0F), y("output y", 32);
  const Launch launch = launch_of("tile_without_border", 1, 32, arguments(x.data(), y.data()));
  const std::vector<Region> regions{x.region(false), y.region()};
  EXPECT_THAT(kbench::ptx::launch(*module_, regions, launch, {}).findings, IsEmpty());
}

TEST_F(Sanitizers, a_warp_that_meets_a_barrier_divided) {
  Buffer<int> y("output y", 32);
  const Result got = run("divided", arguments(y.data()), {y.region()});
  EXPECT_FALSE(got.fault);
  ASSERT_THAT(got.findings, SizeIs(1));
  const Finding& found = got.findings[0];
  EXPECT_EQ(found.kind, FindingKind::kBarrierDivergence);
  EXPECT_EQ(found.line, 74);
  EXPECT_EQ(found.count, 24U);
  EXPECT_THAT(found.message, HasSubstr("8 threads of its warp arrived elsewhere"));
  EXPECT_THAT(found.message, HasSubstr("kernel.cu:71)"));
}

TEST_F(Sanitizers, threads_that_have_left_are_missed_at_no_barrier) {
  Buffer<int> y("output y", 64);
  EXPECT_THAT(run("early", arguments(y.data(), 40), {y.region()}, 64).findings, IsEmpty());
}

TEST_F(Sanitizers, a_deadlock_names_who_waits_where) {
  Buffer<int> y("output y", 64);
  const Result got = run("two_places", arguments(y.data()), {y.region()}, 64);
  ASSERT_TRUE(got.fault);
  EXPECT_EQ(got.fault->kind, FaultKind::kDeadlock);
  EXPECT_THAT(got.fault->message, HasSubstr("32 threads wait at bar.sync in line 84"));
  EXPECT_THAT(got.fault->message, HasSubstr("32 threads wait at bar.sync in line 85"));
}

TEST_F(Sanitizers, all_threads_that_fault_are_counted) {
  Buffer<float> x("output x", 40), y("output y", 160);
  const Result got =
      run("past_end", arguments(x.data(), y.data(), 0), {x.region(), y.region()}, 32, 3);
  ASSERT_TRUE(got.fault);
  EXPECT_EQ(got.fault->kind, FaultKind::kIllegalWrite);
  ASSERT_THAT(got.findings, SizeIs(1));
  EXPECT_EQ(got.findings[0].kind, FindingKind::kFault);
  EXPECT_EQ(got.findings[0].count, 56U);
  EXPECT_EQ(got.findings[0].message, got.fault->message);
  EXPECT_EQ(got.findings[0].line, 90);
  EXPECT_EQ(x[39], 1.0F);
  EXPECT_EQ(y[1], 1.0F);
}

TEST_F(Sanitizers, a_fault_says_how_many_threads_of_the_warp) {
  Buffer<float> x("output x", 20), y("output y", 64);
  const Result got = run("past_end", arguments(x.data(), y.data(), 0), {x.region(), y.region()});
  ASSERT_TRUE(got.fault);
  EXPECT_THAT(got.fault->message,
              HasSubstr("thread (20, 0, 0) of block (0, 0, 0) writes 4 bytes at offset 80 of "
                        "output x, which has 80 bytes (index 20 of 20 elements), and 11 more "
                        "threads of its warp ("));
}

TEST_F(Sanitizers, faults_at_other_places_in_other_blocks_are_findings_too) {
  Buffer<float> x("output x", 64), y("output y", 8);
  options_.threads = 1;
  const Result got =
      run("past_end", arguments(x.data(), y.data(), 7), {x.region(), y.region()}, 32, 3);
  ASSERT_TRUE(got.fault);
  EXPECT_EQ(got.fault->line, 91);
  ASSERT_THAT(got.findings, SizeIs(2));
  EXPECT_EQ(got.findings[0].line, 91);
  EXPECT_EQ(got.findings[0].count, 2U);
  EXPECT_EQ(got.findings[1].line, 90);
  EXPECT_EQ(got.findings[1].thread[0], 0U);
  EXPECT_EQ(got.findings[1].block[0], 2U);
}

TEST_F(Sanitizers, no_more_findings_than_asked_for) {
  Buffer<float> x("output x", 64), y("output y", 8);
  options_.max_findings = 1;
  options_.threads = 1;
  const Result got =
      run("past_end", arguments(x.data(), y.data(), 7), {x.region(), y.region()}, 32, 3);
  EXPECT_THAT(got.findings, SizeIs(1));
  EXPECT_EQ(got.findings_left_out, 1U);
}

TEST_F(Sanitizers, launches_over_the_limits) {
  Buffer<float> x("output x", 64);
  for (const auto& [grid, block, shared, refused] :
       std::vector<std::tuple<std::array<unsigned, 3>, std::array<unsigned, 3>, unsigned, bool>>{
           {{1, 65535, 1}, {1, 1, 1}, 0, false},
           {{1, 65536, 1}, {1, 1, 1}, 0, true},
           {{1, 1, 65536}, {1, 1, 1}, 0, true},
           {{0x80000000U, 1, 1}, {1, 1, 1}, 0, true},
           {{1, 1, 1}, {1, 1, 64}, 0, false},
           {{1, 1, 1}, {1, 1, 65}, 0, true},
           {{1, 1, 1}, {32, 32, 1}, 0, false},
           {{1, 1, 1}, {32, 32, 2}, 0, true},
           {{1, 1, 1}, {0xffffffffU, 0xffffffffU, 1}, 0, true},
           {{0, 1, 1}, {1, 1, 1}, 0, true},
           {{1, 1, 1}, {1, 1, 1}, 227 * 1024, false},
           {{1, 1, 1}, {1, 1, 1}, 227 * 1024 + 1, true}}) {
    Launch launch;
    launch.kernel = "early";
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared_bytes = shared;
    launch.arguments = arguments(x.data(), 0);
    const Result got = kbench::ptx::launch(*module_, std::vector{x.region()}, launch, options_);
    EXPECT_EQ(got.fault.has_value(), refused) << grid[0] << ' ' << block[2] << ' ' << shared;
    if (got.fault) {
      EXPECT_EQ(got.fault->kind, FaultKind::kBadLaunch);
      ASSERT_THAT(got.findings, SizeIs(1));
      EXPECT_EQ(got.findings[0].message, got.fault->message);
    }
  }
}

TEST_F(Sanitizers, static_shared_memory_over_48_kilobytes_cannot_be_compiled) {
  auto loaded = load(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry big() {\n"
      ".shared .align 4 .b8 s[49156];\n.reg .b32 %r<2>;\nmov.u32 %r1, s;\n"
      "st.shared.u32 [%r1], %r1;\nret;\n}\n");
  ASSERT_TRUE(std::holds_alternative<Module>(loaded));
  Launch launch;
  launch.kernel = "big";
  const Result got = kbench::ptx::launch(std::get<Module>(loaded), {}, launch, options_);
  ASSERT_TRUE(got.fault);
  EXPECT_EQ(got.fault->kind, FaultKind::kBadLaunch);
  EXPECT_THAT(got.fault->message, HasSubstr("49156 bytes of static shared memory"));
}

}  // namespace
}  // namespace kbench::ptx::testing
