// SPDX-License-Identifier: MIT
// Two kernels: the product adds its residual as it leaves, then a warp normalises a row.
//@ dims x[M, D]
//@ let per = min(M, D) >= 128 ? 8 : 4
//@ tmp sum like x
//@ out y like x
//@ linear_residual<per, (D % 4 == 0)><<<(cdiv(D, 16 * per), cdiv(M, 16 * per)), 256>>>(
//@     x, linear.weight, sum, init.alpha, M, D)
//@ if (D % 4 == 0 && D <= 2048) {
//@   layer_norm<cdiv(D, 128)><<<cdiv(M, 4), 128>>>(sum, norm.weight, norm.bias, y, M, D, norm.eps)
//@ } else {
//@   layer_norm_narrow<<<cdiv(M, 4), 128>>>(sum, norm.weight, norm.bias, y, M, D, norm.eps)
//@ }

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
    linear_residual(const float* x, const float* weight, float* y, float alpha, int m, int d) {
  float sum[kPer][kPer] = {};
  tile_product<kPer, kWide>(x, weight, m, d, d, sum);
  const int row0 = blockIdx.y * 16 * kPer + threadIdx.x / 16 * 4;
  const int column0 = blockIdx.x * 16 * kPer + threadIdx.x % 16 * 4;
#pragma unroll
  for (int i = 0; i < kPer; ++i) {
    const int row = row0 + i / 4 * 64 + i % 4;
    if (row >= m) continue;
#pragma unroll
    for (int j = 0; j < kPer; ++j) {
      const int column = column0 + j / 4 * 64 + j % 4;
      if (column >= d) continue;
      const long long at = (long long)row * d + column;
      y[at] = sum[i][j] * alpha + x[at];
    }
  }
}

__device__ float warp_sum(float v) {
  for (int lane = 16; lane > 0; lane /= 2) v += __shfl_xor_sync(0xffffffffu, v, lane);
  return v;
}

/// A warp a row, kept in registers: kQuads float4 a lane.
template <int kQuads>
__global__ void layer_norm(const float* in, const float* weight, const float* bias, float* y,
                           int rows, int d, float eps) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float4* from = reinterpret_cast<const float4*>(in + (long long)row * d);
  float4 v[kQuads];
  float sum = 0.0f, squares = 0.0f;
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const int at = q * 32 + lane;
    v[q] = at < d / 4 ? from[at] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    sum += (v[q].x + v[q].y) + (v[q].z + v[q].w);
  }
  const float mean = warp_sum(sum) / d;
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    if (q * 32 + lane >= d / 4) continue;
    v[q].x -= mean, v[q].y -= mean, v[q].z -= mean, v[q].w -= mean;
    squares += v[q].x * v[q].x + v[q].y * v[q].y + v[q].z * v[q].z + v[q].w * v[q].w;
  }
  const float factor = rsqrtf(warp_sum(squares) / d + eps);
  float4* to = reinterpret_cast<float4*>(y + (long long)row * d);
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const int at = q * 32 + lane;
    if (at >= d / 4) continue;
    const float4 w = reinterpret_cast<const float4*>(weight)[at];
    const float4 b = reinterpret_cast<const float4*>(bias)[at];
    to[at] = make_float4(v[q].x * factor * w.x + b.x, v[q].y * factor * w.y + b.y,
                         v[q].z * factor * w.z + b.z, v[q].w * factor * w.w + b.w);
  }
}

/// A warp a row of any length.
__global__ void layer_norm_narrow(const float* in, const float* weight, const float* bias, float* y,
                                  int rows, int d, float eps) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* from = in + (long long)row * d;
  float sum = 0.0f, squares = 0.0f;
  for (int i = lane; i < d; i += 32) sum += from[i];
  const float mean = warp_sum(sum) / d;
  for (int i = lane; i < d; i += 32) squares += (from[i] - mean) * (from[i] - mean);
  const float factor = rsqrtf(warp_sum(squares) / d + eps);
  for (int i = lane; i < d; i += 32) {
    y[(long long)row * d + i] = (from[i] - mean) * factor * weight[i] + bias[i];
  }
}
