// SPDX-License-Identifier: MIT
// Two stages of tiles in dynamic shared memory; each thread computes 8 x 8 elements in registers.
//@ dims a[M, K]
//@ dims b[K, N]
//@ out c: float32[M, N]
//@ let tile = 128
//@ let depth = 32
//@ let smem = 2 * depth * (tile + 4 + tile) * 4     # the left tile is padded by 4 columns
//@ if (K % 4 == 0 && N % 4 == 0) {
//@   matmul<128, 32, 4><<<(cdiv(N, tile), cdiv(M, tile)), 256, smem>>>(a, b, c, M, N, K)
//@ } else {
//@   matmul<128, 32, 1><<<(cdiv(N, tile), cdiv(M, tile)), 256, smem>>>(a, b, c, M, N, K)
//@ }

template <int kVector>
struct Vector {
  float v[kVector];
};

// kVector elements at (row, col) of a row-major matrix, zero outside of it.
template <int kVector>
__device__ __forceinline__ Vector<kVector> load(const float* matrix, int row, int col, int rows,
                                                int cols) {
  Vector<kVector> result{};
  if (row < rows && col < cols) {
    const float* from = matrix + (size_t)row * cols + col;
    if constexpr (kVector == 4) {
      float4 four = *reinterpret_cast<const float4*>(from);
      result.v[0] = four.x, result.v[1] = four.y, result.v[2] = four.z, result.v[3] = four.w;
    } else {
      result.v[0] = *from;
    }
  }
  return result;
}

template <int kTile, int kDepth, int kVector>
__global__ void __launch_bounds__(256)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
           int n, int k) {
  constexpr int kLoads = kTile * kDepth / (256 * kVector);
  constexpr int kLeft = kTile + 4;
  extern __shared__ float4 shared[];
  float* left = reinterpret_cast<float*>(shared);  // [2][kDepth][kLeft], transposed
  float* right = left + 2 * kDepth * kLeft;        // [2][kDepth][kTile]
  int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  int ty = threadIdx.x / 16, tx = threadIdx.x % 16;

  Vector<kVector> next_a[kLoads], next_b[kLoads];
  auto fetch = [&](int k0) {
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      int at = (threadIdx.x + l * 256) * kVector;
      next_a[l] = load<kVector>(a, row0 + at / kDepth, k0 + at % kDepth, m, k);
      next_b[l] = load<kVector>(b, k0 + at / kTile, col0 + at % kTile, k, n);
    }
  };
  auto store = [&](int stage) {
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      int at = (threadIdx.x + l * 256) * kVector;
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        left[(stage * kDepth + at % kDepth + v) * kLeft + at / kDepth] = next_a[l].v[v];
        right[(stage * kDepth + at / kTile) * kTile + at % kTile + v] = next_b[l].v[v];
      }
    }
  };

  float sum[8][8] = {};
  fetch(0);
  store(0);
  __syncthreads();
  for (int k0 = 0, stage = 0; k0 < k; k0 += kDepth, stage ^= 1) {
    bool more = k0 + kDepth < k;
    if (more) fetch(k0 + kDepth);
#pragma unroll 4
    for (int d = 0; d < kDepth; ++d) {
      const float4* x = reinterpret_cast<const float4*>(left + (stage * kDepth + d) * kLeft);
      const float4* y = reinterpret_cast<const float4*>(right + (stage * kDepth + d) * kTile);
      float4 x0 = x[ty], x1 = x[16 + ty], y0 = y[tx], y1 = y[16 + tx];
      float xs[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
      float ys[8] = {y0.x, y0.y, y0.z, y0.w, y1.x, y1.y, y1.z, y1.w};
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += xs[i] * ys[j];
      }
    }
    if (more) store(stage ^ 1);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    int row = row0 + (i / 4) * 64 + ty * 4 + i % 4;
    if (row >= m) continue;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      int col = col0 + (j / 4) * 64 + tx * 4 + j % 4;
      if (col < n) c[(size_t)row * n + col] = sum[i][j];
    }
  }
}
