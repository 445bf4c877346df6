// SPDX-License-Identifier: MIT
// One kernel: a register-tiled product whose sums go through bias and GELU on their way out.
//@ dims x[M, K]
//@ let N = size(linear.weight, 0)
//@ let per = min(M, N) >= 128 ? 8 : 4
//@ out y: float32[M, N]
//@ linear_gelu<per, (K % 4 == 0)><<<(cdiv(N, 16 * per), cdiv(M, 16 * per)), 256>>>(
//@     x, linear.weight, linear.bias, y, M, N, K)

__device__ float component(const float4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/// Four neighbours of a row, zeros beyond the matrix.
template <bool kWide>
__device__ float4 load4(const float* matrix, int row, int column, int rows, int columns) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (row >= rows || column >= columns) return v;
  const float* at = matrix + (long long)row * columns + column;
  if (kWide) return *reinterpret_cast<const float4*>(at);
  v.x = at[0];
  if (column + 1 < columns) v.y = at[1];
  if (column + 2 < columns) v.z = at[2];
  if (column + 3 < columns) v.w = at[3];
  return v;
}

/// Sums over k of a[row, k] * b[column, k] for one square tile of 16 * kPer, kPer x kPer sums a
/// thread (256 threads); kWide: both have rows of a multiple of four floats.
template <int kPer, bool kWide>
__device__ void tile_product(const float* a, const float* b, int m, int n, int k,
                             float (&sum)[kPer][kPer]) {
  constexpr int kTile = 16 * kPer, kDepth = 16, kPitch = kTile + 4;
  __shared__ __align__(16) float tile_a[kDepth][kPitch];
  __shared__ __align__(16) float tile_b[kDepth][kPitch];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int load_row = threadIdx.x / 4, load_k = threadIdx.x % 4 * 4;
  // The next slices are on their way while the present ones are multiplied.
  float4 next_a[kPer / 4], next_b[kPer / 4];
  const auto load_next = [&](int k0) {
#pragma unroll
    for (int part = 0; part < kPer / 4; ++part) {
      const int row = load_row + part * 64;
      next_a[part] = load4<kWide>(a, blockIdx.y * kTile + row, k0 + load_k, m, k);
      next_b[part] = load4<kWide>(b, blockIdx.x * kTile + row, k0 + load_k, n, k);
    }
  };
  load_next(0);
  for (int k0 = 0; k0 < k; k0 += kDepth) {
#pragma unroll
    for (int part = 0; part < kPer / 4; ++part) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        tile_a[load_k + i][load_row + part * 64] = component(next_a[part], i);
        tile_b[load_k + i][load_row + part * 64] = component(next_b[part], i);
      }
    }
    __syncthreads();
    if (k0 + kDepth < k) load_next(k0 + kDepth);
#pragma unroll
    for (int kk = 0; kk < kDepth; ++kk) {
      float4 rows[kPer / 4], columns[kPer / 4];
#pragma unroll
      for (int part = 0; part < kPer / 4; ++part) {
        rows[part] = *reinterpret_cast<const float4*>(&tile_a[kk][part * 64 + ty * 4]);
        columns[part] = *reinterpret_cast<const float4*>(&tile_b[kk][part * 64 + tx * 4]);
      }
#pragma unroll
      for (int i = 0; i < kPer; ++i) {
#pragma unroll
        for (int j = 0; j < kPer; ++j) {
          sum[i][j] += component(rows[i / 4], i % 4) * component(columns[j / 4], j % 4);
        }
      }
    }
    __syncthreads();
  }
}

template <int kPer, bool kWide>
__global__ void __launch_bounds__(256)
    linear_gelu(const float* x, const float* weight, const float* bias, float* y, int m, int n,
                int k) {
  float sum[kPer][kPer] = {};
  tile_product<kPer, kWide>(x, weight, m, n, k, sum);
  const int row0 = blockIdx.y * 16 * kPer + threadIdx.x / 16 * 4;
  const int column0 = blockIdx.x * 16 * kPer + threadIdx.x % 16 * 4;
#pragma unroll
  for (int i = 0; i < kPer; ++i) {
    const int row = row0 + i / 4 * 64 + i % 4;
    if (row >= m) continue;
#pragma unroll
    for (int j = 0; j < kPer; ++j) {
      const int column = column0 + j / 4 * 64 + j % 4;
      if (column >= n) continue;
      const float v = sum[i][j] + bias[column];
      y[(long long)row * n + column] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
    }
  }
}
