// SPDX-License-Identifier: MIT
// One pass: a warp norms and rotates one head of one token, two elements a load where it can.
//@ dims x[B, T, H, D]
//@ let rows = B * T * H
//@ let wide = D % 4 == 0 ? 2 : 1
//@ out y like x
//@ norm_rotate<cdiv(D / 2, 32 * wide), wide><<<cdiv(rows, 8), 256>>>(
//@     x, weight, cos, sin, positions, y, rows, H, D, init.eps)
#include <cuda_bf16.h>

/// kWide neighbouring elements as floats.
template <int kWide>
__device__ void load(const __nv_bfloat16* from, float (&v)[kWide]) {
  if (kWide == 2) {
    const __nv_bfloat162 pair = *reinterpret_cast<const __nv_bfloat162*>(from);
    v[0] = __low2float(pair);
    v[kWide - 1] = __high2float(pair);
  } else {
    v[0] = __bfloat162float(*from);
  }
}

template <int kWide>
__device__ void store(__nv_bfloat16* to, const float (&v)[kWide]) {
  if (kWide == 2) {
    *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(v[0], v[kWide - 1]);
  } else {
    *to = __float2bfloat16(v[0]);
  }
}

/// A lane holds kSteps groups of kWide elements of the first half and their partners of the second.
template <int kSteps, int kWide>
__global__ void norm_rotate(const __nv_bfloat16* x, const __nv_bfloat16* weight, const float* cos,
                            const float* sin, const long long* positions, __nv_bfloat16* y,
                            int rows, int heads, int dim, float eps) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const int half = dim / 2;
  const __nv_bfloat16* from = x + (long long)row * dim;
  float first[kSteps][kWide] = {}, second[kSteps][kWide] = {};
  float squares = 0.0f;
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    const int at = (s * 32 + lane) * kWide;
    if (at >= half) continue;
    load(from + at, first[s]);
    load(from + half + at, second[s]);
#pragma unroll
    for (int i = 0; i < kWide; ++i) {
      squares += first[s][i] * first[s][i] + second[s][i] * second[s][i];
    }
  }
  for (int l = 16; l > 0; l /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, l);
  const float factor = rsqrtf(squares / dim + eps);
  const long long table = positions[row / heads] * half;
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    const int at = (s * 32 + lane) * kWide;
    if (at >= half) continue;
    float weight_first[kWide], weight_second[kWide];
    load(weight + at, weight_first);
    load(weight + half + at, weight_second);
#pragma unroll
    for (int i = 0; i < kWide; ++i) {
      const float c = cos[table + at + i], d = sin[table + at + i];
      const float a = first[s][i] * factor * weight_first[i];
      const float b = second[s][i] * factor * weight_second[i];
      first[s][i] = a * c - b * d;
      second[s][i] = b * c + a * d;
    }
    store(y + (long long)row * dim + at, first[s]);
    store(y + (long long)row * dim + half + at, second[s]);
  }
}
