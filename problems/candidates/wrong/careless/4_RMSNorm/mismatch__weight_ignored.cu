// SPDX-License-Identifier: MIT
// Wrong: normalises, but never applies the learned scale.
#include <cuda_bf16.h>

//@ dims x[T, D]
//@ out y like x
//@ rms_norm<<<T, 32>>>(x, y, norm.eps, D)

__global__ void rms_norm(const __nv_bfloat16* x, __nv_bfloat16* y, float eps, int features) {
  size_t row = (size_t)blockIdx.x * features;
  float sum = 0.0f;
  for (int d = threadIdx.x; d < features; d += 32) {
    float v = __bfloat162float(x[row + d]);
    sum += v * v;
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  float scale = rsqrtf(sum / features + eps);
  for (int d = threadIdx.x; d < features; d += 32) {
    y[row + d] = __float2bfloat16(__bfloat162float(x[row + d]) * scale);
  }
}
