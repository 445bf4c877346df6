// SPDX-License-Identifier: MIT
// Few rows leave most of the device idle, so the sum over k is split: every slice adds its share of
// both products to a float accumulator that starts at zero, and a second kernel gates and rounds.
//@ dims x[M, K]
//@ let N = size(gate.weight, 0)
//@ let tiles = cdiv(N, 64) * cdiv(M, 32)
//@ let wanted = max(1, min(cdiv(K, 64), 8 * device.sms / (2 * tiles)))
//@ let depth = cdiv(cdiv(K, wanted), 16) * 16
//@ let slices = cdiv(K, depth)
//@ tmp acc: float32[2, M, N] = 0
//@ out y: float16[M, N]
//@ add_slice<(K % 2 == 0)><<<(cdiv(N, 64), cdiv(M, 32), 2 * slices), 128>>>(
//@     x, gate.weight, up.weight, acc, M, N, K, depth)
//@ gate_round<<<cdiv(M * N, 256), 256>>>(acc, y, M * N)
#include <cuda_fp16.h>

/// Two neighbours of a row as floats, zeros beyond the matrix or the slice.
template <bool kPairs>
__device__ float2 load2(const __half* matrix, int row, int column, int rows, int columns, int end) {
  float2 v = make_float2(0.0f, 0.0f);
  if (row >= rows || column >= end) return v;
  const __half* at = matrix + (long long)row * columns + column;
  if (kPairs) return __half22float2(*reinterpret_cast<const __half2*>(at));
  v.x = __half2float(at[0]);
  if (column + 1 < end) v.y = __half2float(at[1]);
  return v;
}

/// A tile of 32 rows by 64 columns of one of the products over one slice of k; even z: the gate.
template <bool kPairs>
__global__ void __launch_bounds__(128)
    add_slice(const __half* x, const __half* gate, const __half* up, float* acc, int m, int n,
              int k, int depth) {
  __shared__ __align__(16) float tile_x[16][36];
  __shared__ __align__(16) float tile_w[16][68];
  const __half* weight = blockIdx.z % 2 == 0 ? gate : up;
  const int begin = blockIdx.z / 2 * depth, end = min(k, begin + depth);
  const int row0 = blockIdx.y * 32, column0 = blockIdx.x * 64;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int load_row = threadIdx.x / 8, load_k = threadIdx.x % 8 * 2;
  float sum[4][4] = {};
  // The next slices are on their way while the present ones are multiplied.
  float2 next_w[4], next_x[2];
  const auto load_next = [&](int k0) {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int row = load_row + part * 16;
      next_w[part] = load2<kPairs>(weight, column0 + row, k0 + load_k, n, k, end);
      if (part < 2) next_x[part] = load2<kPairs>(x, row0 + row, k0 + load_k, m, k, end);
    }
  };
  load_next(begin);
  for (int k0 = begin; k0 < end; k0 += 16) {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int row = load_row + part * 16;
      tile_w[load_k][row] = next_w[part].x, tile_w[load_k + 1][row] = next_w[part].y;
      if (part < 2) tile_x[load_k][row] = next_x[part].x, tile_x[load_k + 1][row] = next_x[part].y;
    }
    __syncthreads();
    if (k0 + 16 < end) load_next(k0 + 16);
#pragma unroll
    for (int kk = 0; kk < 16; ++kk) {
      const float4 a = *reinterpret_cast<const float4*>(&tile_x[kk][ty * 4]);
      const float4 b = *reinterpret_cast<const float4*>(&tile_w[kk][tx * 4]);
      const float rows[4] = {a.x, a.y, a.z, a.w}, columns[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += rows[i] * columns[j];
      }
    }
    __syncthreads();
  }
  float* to = acc + (long long)(blockIdx.z % 2) * m * n;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = row0 + ty * 4 + i;
    if (row >= m) continue;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int column = column0 + tx * 4 + j;
      if (column < n) atomicAdd(to + (long long)row * n + column, sum[i][j]);
    }
  }
}

__global__ void gate_round(const float* acc, __half* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float gate = acc[i];
  y[i] = __float2half(gate / (1.0f + __expf(-gate)) * acc[count + i]);
}
