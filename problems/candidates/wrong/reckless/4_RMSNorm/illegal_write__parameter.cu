// SPDX-License-Identifier: MIT
// Wrong: clamps the learned scale in place, so the parameter has other values after the call.
#include <cuda_bf16.h>

//@ dims x[T, D]
//@ out y like x
//@ rms_norm<<<T, 32>>>(x, norm.weight, y, norm.eps, D)

__global__ void rms_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* y,
                         float eps, int features) {
  __nv_bfloat16* scales = const_cast<__nv_bfloat16*>(weight);
  size_t row = (size_t)blockIdx.x * features;
  float sum = 0.0f;
  for (int d = threadIdx.x; d < features; d += 32) {
    float v = __bfloat162float(x[row + d]);
    sum += v * v;
    scales[d] = __float2bfloat16(fminf(__bfloat162float(weight[d]), 1.0f));
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  float scale = rsqrtf(sum / features + eps);
  for (int d = threadIdx.x; d < features; d += 32) {
    y[row + d] =
        __float2bfloat16(__bfloat162float(x[row + d]) * scale * __bfloat162float(scales[d]));
  }
}
