// SPDX-License-Identifier: MIT
// Each thread reads one token twice: for its mean square, then to scale it.
#include <cuda_bf16.h>

//@ dims x[T, D]
//@ out y like x
//@ rms_norm<<<cdiv(T, 32), 32>>>(x, norm.weight, y, norm.eps, T, D)

__global__ void rms_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* y,
                         float eps, int tokens, int features) {
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  size_t row = (size_t)token * features;
  float sum = 0.0f;
  for (int d = 0; d < features; ++d) {
    float v = __bfloat162float(x[row + d]);
    sum += v * v;
  }
  float scale = rsqrtf(sum / features + eps);
  for (int d = 0; d < features; ++d) {
    float v = __bfloat162float(x[row + d]) * scale * __bfloat162float(weight[d]);
    y[row + d] = __float2bfloat16(v);
  }
}
