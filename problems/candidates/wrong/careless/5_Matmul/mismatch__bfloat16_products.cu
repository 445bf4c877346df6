// SPDX-License-Identifier: MIT
// Wrong: rounds its float32 inputs to bfloat16 first, which loses two thirds of their digits.
#include <cuda_bf16.h>

//@ dims a[M, K]
//@ dims b[K, N]
//@ out c: float32[M, N]
//@ matmul<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(a, b, c, M, N, K)

__device__ float rounded(float v) { return __bfloat162float(__float2bfloat16(v)); }

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += rounded(a[row * k + i]) * rounded(b[i * n + col]);
  c[row * n + col] = sum;
}
