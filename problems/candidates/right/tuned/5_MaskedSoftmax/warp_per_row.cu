// SPDX-License-Identifier: MIT
// One pass: a warp holds its row in registers; rows too long for that keep a running maximum.
//@ dims scores[B, H, Q, K]
//@ dims keep[B, K]
//@ let rows = B * H * Q
//@ let wide = K % 2 == 0 ? 2 : 1
//@ out y like scores
//@ if (K <= 2048) {
//@   in_registers<cdiv(K, 32 * wide), wide><<<cdiv(rows, 4), 128>>>(scores, keep, y, scale, rows,
//@                                                                  H * Q, K)
//@ } else {
//@   online<<<rows, 256>>>(scores, keep, y, scale, H * Q, K)
//@ }
#include <cuda_fp16.h>

__device__ float lowest() { return __int_as_float(0xff800000); }

/// The score as eager sees it: the product rounded to half precision.
__device__ float scaled(__half score, bool keep, float scale) {
  return keep ? __half2float(__float2half(__half2float(score) * scale)) : lowest();
}

template <int kSteps, int kWide>
__global__ void in_registers(const __half* scores, const bool* keep, __half* y, float scale,
                             int rows, int rows_per_batch, int keys) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const __half* from = scores + (long long)row * keys;
  const bool* seen = keep + row / rows_per_batch * keys;
  float v[kSteps][kWide];
  float largest = lowest();
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    const int at = (s * 32 + lane) * kWide;
    if (kWide == 2) {
      __half2 pair = __floats2half2_rn(0.0f, 0.0f);
      if (at < keys) pair = *reinterpret_cast<const __half2*>(from + at);
      v[s][0] = scaled(__low2half(pair), at < keys && seen[at], scale);
      v[s][kWide - 1] = scaled(__high2half(pair), at < keys && seen[at + 1], scale);
    } else {
      v[s][0] = at < keys ? scaled(from[at], seen[at], scale) : lowest();
    }
#pragma unroll
    for (int i = 0; i < kWide; ++i) largest = fmaxf(largest, v[s][i]);
  }
  for (int l = 16; l > 0; l /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, l));
  }
  float sum = 0.0f;
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int i = 0; i < kWide; ++i) sum += v[s][i] = __expf(v[s][i] - largest);
  }
  for (int l = 16; l > 0; l /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, l);
  const float share = 1.0f / sum;
  __half* to = y + (long long)row * keys;
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    const int at = (s * 32 + lane) * kWide;
    if (at >= keys) continue;
    if (kWide == 2) {
      *reinterpret_cast<__half2*>(to + at) =
          __floats2half2_rn(v[s][0] * share, v[s][kWide - 1] * share);
    } else {
      to[at] = __float2half(v[s][0] * share);
    }
  }
}

/// Maximum and sum of exp(v - maximum) of what both sides have seen.
__device__ void combine(float& largest, float& sum, float other_largest, float other_sum) {
  const float both = fmaxf(largest, other_largest);
  if (both == lowest()) return;
  sum = sum * __expf(largest - both) + other_sum * __expf(other_largest - both);
  largest = both;
}

__global__ void online(const __half* scores, const bool* keep, __half* y, float scale,
                       int rows_per_batch, int keys) {
  __shared__ float of_warp[8][2];
  const __half* from = scores + (long long)blockIdx.x * keys;
  const bool* seen = keep + (long long)(blockIdx.x / rows_per_batch) * keys;
  float largest = lowest(), sum = 0.0f;
  for (int i = threadIdx.x; i < keys; i += 256) {
    if (seen[i]) combine(largest, sum, scaled(from[i], true, scale), 1.0f);
  }
  for (int l = 16; l > 0; l /= 2) {
    const float other_largest = __shfl_xor_sync(0xffffffffu, largest, l);
    const float other_sum = __shfl_xor_sync(0xffffffffu, sum, l);
    combine(largest, sum, other_largest, other_sum);
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32][0] = largest;
    of_warp[threadIdx.x / 32][1] = sum;
  }
  __syncthreads();
  largest = lowest(), sum = 0.0f;
  for (int w = 0; w < 8; ++w) combine(largest, sum, of_warp[w][0], of_warp[w][1]);
  __half* to = y + (long long)blockIdx.x * keys;
  for (int i = threadIdx.x; i < keys; i += 256) {
    to[i] = __float2half(__expf(scaled(from[i], seen[i], scale) - largest) / sum);
  }
}
