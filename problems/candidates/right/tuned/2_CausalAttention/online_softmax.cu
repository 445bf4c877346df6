// SPDX-License-Identifier: MIT
// Scores never reach memory: a block takes 64 queries of one head past all keys and keeps a running
// maximum, sum and weighted mean for each. Head dimensions are multiples of 16.
//@ dims x[B, T, D]
//@ let head_dim = D / heads
//@ let rows = B * T
//@ let per = rows * D >= 2048 * 512 ? 8 : 4
//@ let wide = D % 4 == 0
//@ tmp projected: float32[rows, 3 * D]
//@ tmp context: float32[rows, D]
//@ out y like x
//@ linear<per, wide><<<(cdiv(3 * D, 16 * per), cdiv(rows, 16 * per)), 256>>>(
//@     x, qkv.weight, qkv.bias, projected, rows, 3 * D, D)
//@ attend<head_dim><<<(cdiv(T, 64), heads, B), 256,
//@                    4 * (2 * head_dim * 68 + 64 * (head_dim + 4) + 64 * 68)>>>(
//@     projected, context, T, init.causal, rsqrt(head_dim))
//@ linear<per, wide><<<(cdiv(D, 16 * per), cdiv(rows, 16 * per)), 256>>>(
//@     context, proj.weight, proj.bias, y, rows, D, D)

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
    linear(const float* x, const float* weight, const float* bias, float* y, int m, int n, int k) {
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
      if (column < n) y[(long long)row * n + column] = sum[i][j] + bias[column];
    }
  }
}

/// 64 rows of q, k or v (one head) into shared memory, zeros beyond the last token; transposed or
/// row by row.
template <int kHeadDim, bool kTransposed>
__device__ void load_rows(const float* from, float* to, int row0, int tokens, int stride,
                          float scale) {
  for (int i = threadIdx.x; i < 64 * kHeadDim; i += 256) {
    const int row = i / kHeadDim, d = i % kHeadDim;
    const float v = row0 + row < tokens ? from[(row0 + row) * stride + d] * scale : 0.0f;
    to[kTransposed ? d * 68 + row : row * (kHeadDim + 4) + d] = v;
  }
}

/// Scores of four queries by four keys.
template <int kHeadDim>
__device__ void query_key(const float* queries, const float* keys, float (&score)[4][4]) {
#pragma unroll 8
  for (int d = 0; d < kHeadDim; ++d) {
    const float4 q = *reinterpret_cast<const float4*>(queries + d * 68);
    const float4 k = *reinterpret_cast<const float4*>(keys + d * 68);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) score[i][j] += component(q, i) * component(k, j);
    }
  }
}

/// Takes the scores into the running maximum and sum of their row, leaves the weights in their
/// place, and returns what the sums so far are to be multiplied with. 16 lanes share a row.
__device__ float soften(float (&score)[4], float& largest, float& total) {
  float v = fmaxf(fmaxf(score[0], score[1]), fmaxf(score[2], score[3]));
  for (int l = 8; l > 0; l /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, l));
  v = fmaxf(v, largest);
  const float correction = __expf(largest - v);
  largest = v;
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) sum += score[j] = __expf(score[j] - v);
  for (int l = 8; l > 0; l /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, l);
  total = total * correction + sum;
  return correction;
}

template <int kHeadDim>
__global__ void __launch_bounds__(256)
    attend(const float* qkv, float* context, int tokens, bool causal, float scale) {
  static_assert(kHeadDim % 16 == 0, "sixteen threads share the columns of a head");
  constexpr int kPer = kHeadDim / 16;
  extern __shared__ __align__(16) float shared[];
  float* queries = shared;
  float* keys = queries + kHeadDim * 68;
  float* weights = keys + kHeadDim * 68;
  float* values = weights + 64 * 68;
  const int dim = gridDim.y * kHeadDim, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row0 = blockIdx.x * 64;
  const float* base = qkv + (long long)blockIdx.z * tokens * 3 * dim + blockIdx.y * kHeadDim;
  const float lowest = __int_as_float(0xff800000);
  float largest[4] = {lowest, lowest, lowest, lowest}, total[4] = {};
  float sum[4][kPer] = {};
  load_rows<kHeadDim, true>(base, queries, row0, tokens, 3 * dim, scale);
  const int end = causal ? min(tokens, row0 + 64) : tokens;
  for (int key0 = 0; key0 < end; key0 += 64) {
    __syncthreads();
    load_rows<kHeadDim, true>(base + dim, keys, key0, tokens, 3 * dim, 1.0f);
    load_rows<kHeadDim, false>(base + 2 * dim, values, key0, tokens, 3 * dim, 1.0f);
    __syncthreads();
    float score[4][4] = {};
    query_key<kHeadDim>(queries + ty * 4, keys + tx * 4, score);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int key = key0 + tx * 4 + j;
        if (key >= tokens || (causal && key > row0 + ty * 4 + i)) score[i][j] = lowest;
      }
      const float correction = soften(score[i], largest[i], total[i]);
#pragma unroll
      for (int e = 0; e < kPer; ++e) sum[i][e] *= correction;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      *reinterpret_cast<float4*>(weights + (tx * 4 + j) * 68 + ty * 4) =
          make_float4(score[0][j], score[1][j], score[2][j], score[3][j]);
    }
    __syncwarp();
#pragma unroll 8
    for (int k = 0; k < 64; ++k) {
      const float4 w = *reinterpret_cast<const float4*>(weights + k * 68 + ty * 4);
#pragma unroll
      for (int e = 0; e < kPer; ++e) {
        const float v = values[k * (kHeadDim + 4) + tx * kPer + e];
        sum[0][e] += w.x * v, sum[1][e] += w.y * v, sum[2][e] += w.z * v, sum[3][e] += w.w * v;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = row0 + ty * 4 + i;
    if (row >= tokens) continue;
    float* to = context + ((long long)blockIdx.z * tokens + row) * dim + blockIdx.y * kHeadDim;
#pragma unroll
    for (int e = 0; e < kPer; ++e) to[tx * kPer + e] = sum[i][e] / total[i];
  }
}
