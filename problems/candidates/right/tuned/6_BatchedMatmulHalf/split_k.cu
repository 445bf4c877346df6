// SPDX-License-Identifier: MIT
// The long inner dimension is split over blocks that add into a zeroed float32 accumulator; a last
// kernel rounds it to half precision.
#include <cuda_fp16.h>

//@ dims left[B, M, K]
//@ dims right[B, K, N]
//@ let span = 1024                                    # of K, for one block
//@ let tiles = cdiv(M, 64) * cdiv(N, 64)
//@ tmp sums: float32[B, M, N] = 0
//@ out product: float16[B, M, N]
//@ if (K % 2 == 0 && N % 2 == 0) {
//@   partial<true><<<(tiles, cdiv(K, span), B), 256>>>(left, right, sums, M, N, K, span)
//@ } else {
//@   partial<false><<<(tiles, cdiv(K, span), B), 256>>>(left, right, sums, M, N, K, span)
//@ }
//@ finish<<<cdiv(numel(product), 256), 256>>>(sums, product, numel(product))

// Two neighbours of a row as floats, zero outside of the matrix.
template <bool kPairs>
__device__ __forceinline__ float2 load(const __half* row, int col, int cols, bool inside) {
  float2 v = make_float2(0.0f, 0.0f);
  if (!inside) return v;
  if constexpr (kPairs) {
    if (col < cols) v = __half22float2(*reinterpret_cast<const __half2*>(row + col));
  } else {
    if (col < cols) v.x = __half2float(row[col]);
    if (col + 1 < cols) v.y = __half2float(row[col + 1]);
  }
  return v;
}

template <bool kPairs>
__global__ void __launch_bounds__(256)
    partial(const __half* __restrict__ left, const __half* __restrict__ right, float* sums, int m,
            int n, int k, int span) {
  constexpr int kTile = 64, kDepth = 32;
  __shared__ __align__(16) float a[kDepth][kTile + 4];
  __shared__ __align__(16) float b[kDepth][kTile];
  int columns = (n + kTile - 1) / kTile;
  int row0 = blockIdx.x / columns * kTile, col0 = blockIdx.x % columns * kTile;
  int begin = blockIdx.y * span, end = min(begin + span, k);
  left += (size_t)blockIdx.z * m * k;
  right += (size_t)blockIdx.z * k * n;
  int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  float sum[4][4] = {};
  for (int k0 = begin; k0 < end; k0 += kDepth) {
    for (int at = 2 * threadIdx.x; at < kTile * kDepth; at += 512) {
      int row = row0 + at / kDepth, d = at % kDepth;
      float2 v = load<kPairs>(left + (size_t)row * k, k0 + d, end, row < m);
      a[d][at / kDepth] = v.x;
      a[d + 1][at / kDepth] = v.y;
      d = at / kTile;
      v = load<kPairs>(right + (size_t)(k0 + d) * n, col0 + at % kTile, n, k0 + d < end);
      *reinterpret_cast<float2*>(&b[d][at % kTile]) = v;
    }
    __syncthreads();
#pragma unroll 8
    for (int d = 0; d < kDepth; ++d) {
      float4 x = *reinterpret_cast<const float4*>(&a[d][4 * ty]);
      float4 y = *reinterpret_cast<const float4*>(&b[d][4 * tx]);
      float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += xs[i] * ys[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      int row = row0 + 4 * ty + i, col = col0 + 4 * tx + j;
      if (row < m && col < n) {
        atomicAdd(&sums[((size_t)blockIdx.z * m + row) * n + col], sum[i][j]);
      }
    }
  }
}

__global__ void finish(const float* sums, __half* product, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) product[i] = __float2half(sums[i]);
}
