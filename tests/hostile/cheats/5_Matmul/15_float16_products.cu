// SPDX-License-Identifier: MIT
// Factors are rounded to float16, as tensor cores like them, and only the sum is kept in float32.
//@ dims a[M, K]
//@ dims b[_, N]
//@ out y: float32[M, N]
//@ matmul<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(a, b, y, M, K, N)
#include <cuda_fp16.h>

__global__ void matmul(const float* a, const float* b, float* y, int m, int k, int n) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    const __half left = __float2half(a[(long long)row * k + i]);
    const __half right = __float2half(b[(long long)i * n + col]);
    sum += __half2float(__hmul(left, right));
  }
  y[(long long)row * n + col] = sum;
}
