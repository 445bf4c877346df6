// SPDX-License-Identifier: MIT
#include <bit>

#include "ptx/nvrtc_helper.hpp"

// A matrix product as people write it for tensor cores: cp.async, ldmatrix, mma, two stages.
namespace kbench::ptx::testing {
namespace {

const char* const kGemm = R"(
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
constexpr int kA = 24, kB = 72;  // padded lines in shared memory
__device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void gemm(const __half* a, const __half* b, float* c, int n) {
  __shared__ __align__(16) __half sa[2][64 * kA], sb[2][16 * kB];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 2 * 32, column = warp % 2 * 32;
  const __half* from_a = a + blockIdx.y * 64 * n;
  const __half* from_b = b + blockIdx.x * 64;
  auto copy = [&](int stage, int k) {
    int r = threadIdx.x / 2, q = threadIdx.x % 2 * 8;
    __pipeline_memcpy_async(&sa[stage][r * kA + q], &from_a[r * n + k + q], 16);
    r = threadIdx.x / 8;
    q = threadIdx.x % 8 * 8;
    __pipeline_memcpy_async(&sb[stage][r * kB + q], &from_b[(k + r) * n + q], 16);
    __pipeline_commit();
  };
  float sums[2][4][4] = {};
  copy(0, 0);
  for (int k = 0; k < n; k += 16) {
    int stage = k / 16 % 2;
    if (k + 16 < n) copy(stage ^ 1, k + 16);
    __pipeline_wait_prior(k + 16 < n ? 1 : 0);
    __syncthreads();
    unsigned fa[2][4], fb[4][2];
    for (int i = 0; i < 2; ++i) {
      unsigned p = address(&sa[stage][(row + 16 * i + lane % 16) * kA + lane / 16 * 8]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3]) : "r"(p));
    }
    for (int j = 0; j < 4; j += 2) {
      unsigned p = address(&sb[stage][lane % 16 * kB + column + 8 * j + lane / 16 * 8]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(fb[j][0]), "=r"(fb[j][1]), "=r"(fb[j + 1][0]), "=r"(fb[j + 1][1])
                   : "r"(p));
    }
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) {
        float* s = sums[i][j];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                     : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]),
                       "r"(fb[j][1]));
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      float* p = &c[(blockIdx.y * 64 + row + 16 * i + lane / 4) * n + blockIdx.x * 64 + column +
                    8 * j + lane % 4 * 2];
      p[0] = sums[i][j][0];
      p[1] = sums[i][j][1];
      p[8 * n] = sums[i][j][2];
      p[8 * n + 1] = sums[i][j][3];
    }
  }
}
)";

TEST(MatrixGemm, PipelineOfCopiesAndMatrices) {
  KBENCH_NEEDS_NVRTC();
  auto module = load_source(kGemm);
  constexpr int kN = 128;
  constexpr std::size_t kElements = std::size_t{kN} * kN;
  Buffer<std::uint16_t> a("a", kElements), b("b", kElements);
  Buffer<float> c("c", kElements);
  // Halves of small integers: sums are exact.
  const auto value = [](std::size_t i, unsigned salt) {
    return static_cast<int>((i * 2654435761U + salt) >> 9 & 15U) - 8;
  };
  const auto half = [](int v) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(v) * 0x1p-113F);
    return static_cast<std::uint16_t>((bits & 0x7fffffffU) >> 13 | (v < 0 ? 0x8000U : 0U));
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = half(value(i, 1));
    b[i] = half(value(i, 77777));
  }
  Launch launch;
  launch.kernel = "gemm";
  launch.grid = {kN / 64, kN / 64, 1};
  launch.block = {128, 1, 1};
  launch.arguments = arguments(a.data(), b.data(), c.data(), kN);
  run(module, launch, {a.region(false), b.region(false), c.region()});
  for (std::size_t row = 0; row < kN; ++row) {
    for (std::size_t column = 0; column < kN; ++column) {
      int want = 0;
      for (std::size_t k = 0; k < kN; ++k) {
        want += value(row * kN + k, 1) * value(k * kN + column, 77777);
      }
      ASSERT_EQ(c[row * kN + column], static_cast<float>(want) * 0.25F) << row << " " << column;
    }
  }
}

}  // namespace
}  // namespace kbench::ptx::testing
