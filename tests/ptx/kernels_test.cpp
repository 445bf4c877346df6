// SPDX-License-Identifier: MIT
#include <cmath>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(engine);
  return values;
}

TEST(Kernels, elementwise_with_a_tail) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void axpy(const float* x, const float* y, float* z, float a, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) z[i] = __fmaf_rn(a, x[i], y[i]);
    })");
  const int n = 10'007;
  const auto x_values = random_floats(n, 1), y_values = random_floats(n, 2);
  Buffer<float> x("input x", n), y("input y", n), z("output z", n, -1);
  std::copy(x_values.begin(), x_values.end(), x.data());
  std::copy(y_values.begin(), y_values.end(), y.data());
  const Launch launch =
      launch_of("axpy", (n + 255) / 256, 256, arguments(x.data(), y.data(), z.data(), 2.5F, n));
  run(module, launch, {x.region(false), y.region(false), z.region()});
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(z[i], std::fma(2.5F, x[i], y[i])) << i;
}

TEST(Kernels, reduction_with_shared_memory_and_shuffles) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    extern "C" __global__ void total(const int* x, int* y, int n) {
      __shared__ int partial[32];
      int sum = 0;
      for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[blockIdx.x * n + i];
      for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
      if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
      __syncthreads();
      if (threadIdx.x < 32) {
        sum = threadIdx.x < (blockDim.x + 31) / 32 ? partial[threadIdx.x] : 0;
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (threadIdx.x == 0) y[blockIdx.x] = sum;
      }
    })");
  const int rows = 37, n = 1003;
  Buffer<int> x("input x", std::size_t{rows} * n), y("output y", rows);
  std::mt19937 engine(3);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(engine() % 2001) - 1000;
  const Launch launch = launch_of("total", rows, 256, arguments(x.data(), y.data(), n));
  run(module, launch, {x.region(false), y.region()});
  for (std::size_t r = 0; r < rows; ++r) {
    int expected = 0;
    for (std::size_t i = 0; i < n; ++i) expected += x[r * n + i];
    ASSERT_EQ(y[r], expected) << r;
  }
}

constexpr const char* kMatmul = R"(
    extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n,
                                      int k) {
      __shared__ float as[16][16], bs[16][17];
      int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
      float sum = 0;
      for (int t = 0; t < k; t += 16) {
        int ka = t + threadIdx.x, kb = t + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = column < n && kb < k ? b[kb * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; ++i) {
          sum = __fmaf_rn(as[threadIdx.y][i], bs[i][threadIdx.x], sum);
        }
        __syncthreads();
      }
      if (row < m && column < n) c[row * n + column] = sum;
    })";

TEST(Kernels, matmul_with_shared_memory) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(kMatmul);
  const int m = 70, n = 45, k = 83;
  Buffer<float> a("input a", std::size_t{m} * k), b("input b", std::size_t{k} * n),
      c("output c", std::size_t{m} * n, NAN);
  const auto a_values = random_floats(a.size(), 4), b_values = random_floats(b.size(), 5);
  std::copy(a_values.begin(), a_values.end(), a.data());
  std::copy(b_values.begin(), b_values.end(), b.data());
  Launch launch;
  launch.kernel = "matmul";
  launch.grid = {(n + 15) / 16, (m + 15) / 16, 1};
  launch.block = {16, 16, 1};
  launch.arguments = arguments(a.data(), b.data(), c.data(), m, n, k);
  run(module, launch, {a.region(false), b.region(false), c.region()});
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      float expected = 0;
      for (std::size_t t = 0; t < k; ++t) expected = std::fma(a[i * k + t], b[t * n + j], expected);
      ASSERT_EQ(c[i * n + j], expected) << i << ", " << j;
    }
  }
}

TEST(Kernels, asynchronous_copies_to_shared_memory) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    #include <cuda_pipeline.h>
    extern "C" __global__ void reverse(const float4* x, float4* y, int n) {
      extern __shared__ float4 tile[];
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      __pipeline_memcpy_async(&tile[threadIdx.x], &x[i], 16, i < n ? 0 : 16);
      __pipeline_commit();
      __pipeline_wait_prior(0);
      __syncthreads();
      if (i < n + 1) y[i] = tile[blockDim.x - 1 - threadIdx.x];
    })");
  const int n = 127;
  Buffer<float> x("input x", std::size_t{4} * 128), y("output y", x.size(), -1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  Launch launch;
  launch.kernel = "reverse";
  launch.grid = {2, 1, 1};
  launch.block = {64, 1, 1};
  launch.dynamic_shared_bytes = 64 * 16;
  launch.arguments = arguments(x.data(), y.data(), n);
  run(module, launch, {x.region(false), y.region()});
  for (std::size_t i = 0; i < 128; ++i) {
    const std::size_t from = i / 64 * 64 + 63 - i % 64;
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(y[4 * i + k], from < n ? x[4 * from + k] : 0.0F) << i;
    }
  }
}

}  // namespace
}  // namespace kbench::ptx::testing
