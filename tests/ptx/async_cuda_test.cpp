// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <numeric>

#include "ptx/nvrtc_helper.hpp"

// cuda::barrier, cuda::pipeline and memcpy_async as NVRTC compiles them.
namespace kbench::ptx::testing {
namespace {

constexpr const char* kSource = R"(
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init
using Barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void barrier(const int* x, int* y, int n) {
  __shared__ Barrier b;
  __shared__ int s[128];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&b, block.size());
  block.sync();
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    s[threadIdx.x] = x[threadIdx.x] + i;
    auto token = b.arrive();
    b.wait(std::move(token));
    sum += s[127 - threadIdx.x];
    b.arrive_and_wait();
  }
  if (threadIdx.x >= 64) { y[threadIdx.x] = sum; b.arrive_and_drop(); return; }
  s[threadIdx.x] = 1000;
  b.arrive_and_wait();
  y[threadIdx.x] = sum + s[63 - threadIdx.x];
}
extern "C" __global__ void copied(const int* x, int* y, int) {
  __shared__ Barrier b;
  __shared__ alignas(16) int s[128];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&b, block.size());
  block.sync();
  cuda::memcpy_async(block, s, x, cuda::aligned_size_t<16>(sizeof s), b);
  b.arrive_and_wait();
  y[threadIdx.x] = s[127 - threadIdx.x];
}
extern "C" __global__ void copied_words(const int* x, int* y, int) {
  __shared__ Barrier b;
  __shared__ int s[128];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&b, block.size());
  block.sync();
  cuda::memcpy_async(&s[threadIdx.x], &x[threadIdx.x], cuda::aligned_size_t<4>(4), b);
  b.arrive_and_wait();
  y[threadIdx.x] = s[127 - threadIdx.x];
}
extern "C" __global__ void pipeline(const int* x, int* y, int n) {
  __shared__ int s[2][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto p = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int f = 0, i = 0; i < n; ++i) {
    for (; f < n && f < i + 2; ++f) {
      p.producer_acquire();
      cuda::memcpy_async(block, s[f % 2], x + f * 128, sizeof(int) * 128, p);
      p.producer_commit();
    }
    p.consumer_wait();
    sum += s[i % 2][127 - threadIdx.x];
    p.consumer_release();
  }
  y[threadIdx.x] = sum;
}
extern "C" __global__ void roles(const int* x, int* y, int n) {
  __shared__ int s[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  const bool produces = threadIdx.x < 64;
  auto p = cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer
                                                       : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    if (produces) {
      p.producer_acquire();
      cuda::memcpy_async(&s[i % 2][threadIdx.x], x + i * 128 + threadIdx.x, sizeof(int), p);
      p.producer_commit();
    } else {
      p.consumer_wait();
      sum += s[i % 2][127 - threadIdx.x];
      p.consumer_release();
    }
  }
  y[threadIdx.x] = sum;
}
extern "C" __global__ void own_pipeline(const int* x, int* y, int n) {
  __shared__ int s[2][128];
  auto p = cuda::make_pipeline();
  int sum = 0;
  for (int f = 0, i = 0; i < n; ++i) {
    for (; f < n && f < i + 2; ++f) {
      p.producer_acquire();
      cuda::memcpy_async(&s[f % 2][threadIdx.x], x + f * 128 + threadIdx.x, sizeof(int), p);
      p.producer_commit();
    }
    p.consumer_wait();
    sum += s[i % 2][threadIdx.x];
    p.consumer_release();
  }
  y[threadIdx.x] = sum;
}
extern "C" __global__ void group_copy(const int* x, int* y, int) {
  __shared__ int s[128];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof s);
  cg::wait(block);
  y[threadIdx.x] = s[127 - threadIdx.x];
}
extern "C" __global__ void tile_copies(const int* x, int* y, int) {
  __shared__ int s[2][128];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int at = tile.meta_group_rank() * 32;
  cg::memcpy_async(tile, s[0] + at, x + at, 128);
  cg::memcpy_async(tile, s[1] + at, x + 128 + at, 128);
  cg::wait_prior<1>(tile);
  int first = s[0][at + 31 - tile.thread_rank()];
  cg::wait(tile);
  y[threadIdx.x] = first + s[1][at + tile.thread_rank()];
}
)";

struct Row {
  const char* kernel;
  int (*expected)(int t, int n);  ///< x[i] is i
};

TEST(CudaAsync, barriers_pipelines_and_copies_of_groups) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(kSource);
  const Row rows[] = {
      {"barrier",
       [](int t, int n) { return n * (127 - t) + n * (n - 1) / 2 + (t < 64 ? 1000 : 0); }},
      {"copied", [](int t, int) { return 127 - t; }},
      {"copied_words", [](int t, int) { return 127 - t; }},
      {"pipeline", [](int t, int n) { return n * (127 - t) + 64 * n * (n - 1); }},
      {"roles", [](int t, int n) { return t < 64 ? 0 : n * (127 - t) + 64 * n * (n - 1); }},
      {"own_pipeline", [](int t, int n) { return n * t + 64 * n * (n - 1); }},
      {"group_copy", [](int t, int) { return 127 - t; }},
      {"tile_copies", [](int t, int) { return (t & ~31) + 31 - (t & 31) + 128 + t; }},
  };
  const int n = 10;
  Buffer<int> x("x", std::size_t{128} * n), y("y", 128);
  std::iota(x.data(), x.data() + x.size(), 0);
  for (const Row& row : rows) {
    const Launch launch = launch_of(row.kernel, 1, 128, arguments(x.data(), y.data(), n));
    SCOPED_TRACE(row.kernel);
    run(module, launch, {x.region(false), y.region()});
    for (int t = 0; t < 128; ++t) {
      ASSERT_EQ(y[static_cast<std::size_t>(t)], row.expected(t, n)) << row.kernel << " " << t;
    }
  }
}

constexpr const char* kMatmul = R"(
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ alignas(16) float sa[STAGES][32][32], sb[STAGES][32][32];
  const int row = blockIdx.y * 32, column = blockIdx.x * 32, tiles = n / 32;
  auto fetch = [&](int tile) {
    if (tile < tiles) {
      for (int i = threadIdx.x; i < 256; i += 128) {
        const int r = i / 8, k = i % 8 * 4, s = tile % STAGES;
        __pipeline_memcpy_async(&sa[s][r][k], a + (row + r) * n + tile * 32 + k, 16);
        __pipeline_memcpy_async(&sb[s][r][k], b + (tile * 32 + r) * n + column + k, 16);
      }
    }
    __pipeline_commit();
  };
  float sum[8] = {};
  for (int s = 0; s < STAGES - 1; ++s) fetch(s);
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + STAGES - 1);
    if (WAIT) __pipeline_wait_prior(STAGES - 1);
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      for (int i = 0; i < 8; ++i)
        sum[i] += sa[tile % STAGES][threadIdx.x / 32 + 4 * i][k] * sb[tile % STAGES][k][threadIdx.x % 32];
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) c[(row + threadIdx.x / 32 + 4 * i) * n + column + threadIdx.x % 32] = sum[i];
}
)";

TEST(CudaAsync, a_matmul_in_stages_is_right_only_with_its_wait) {
  KBENCH_NEEDS_NVRTC();
  const std::size_t n = 128;
  Buffer<float> a("a", n * n), b("b", n * n), c("c", n * n);
  for (std::size_t i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 7) - 3;
    b[i] = static_cast<float>(i % 5) - 2;
  }
  for (const bool waits : {true, false}) {
    Module module = load_source(kMatmul, {"-DSTAGES=3", waits ? "-DWAIT=1" : "-DWAIT=0"});
    Launch launch;
    launch.kernel = "matmul";
    launch.grid = {n / 32, n / 32, 1};
    launch.block = {128, 1, 1};
    launch.arguments = arguments(a.data(), b.data(), c.data(), static_cast<int>(n));
    run(module, launch, {a.region(false), b.region(false), c.region()});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
        wrong += c[i * n + j] == sum ? 0 : 1;
      }
    }
    EXPECT_EQ(wrong == 0, waits);
  }
}

}  // namespace
}  // namespace kbench::ptx::testing
