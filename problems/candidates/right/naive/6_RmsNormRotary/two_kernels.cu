// SPDX-License-Identifier: MIT
//@ dims x[B, T, H, D]
//@ tmp factor: float32[B * T * H]
//@ out y like x
//@ row_factor<<<cdiv(B * T * H, 128), 128>>>(x, factor, B * T * H, D, eps)
//@ rotate<<<cdiv(numel(x) / 2, 256), 256>>>(x, factor, weight, cos, sin, positions, y, H, D / 2,
//@                                          numel(x) / 2)
#include <cuda_bf16.h>

__global__ void row_factor(const __nv_bfloat16* x, float* factor, int rows, int dim, float eps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < dim; ++i) {
    const float v = __bfloat162float(x[row * dim + i]);
    sum += v * v;
  }
  factor[row] = rsqrtf(sum / dim + eps);
}

__global__ void rotate(const __nv_bfloat16* x, const float* factor, const __nv_bfloat16* weight,
                       const float* cos, const float* sin, const long long* positions,
                       __nv_bfloat16* y, int heads, int half, int count) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const int row = index / half, i = index % half;
  const int at = row * 2 * half + i;
  const long long table = positions[row / heads] * half + i;
  const float first = __bfloat162float(x[at]) * factor[row] * __bfloat162float(weight[i]);
  const float second =
      __bfloat162float(x[at + half]) * factor[row] * __bfloat162float(weight[i + half]);
  y[at] = __float2bfloat16(first * cos[table] - second * sin[table]);
  y[at + half] = __float2bfloat16(second * cos[table] + first * sin[table]);
}
