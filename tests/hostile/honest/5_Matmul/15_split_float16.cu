// SPDX-License-Identifier: MIT
// float16 factors in pairs (high and low part): three exact products make up for the rounding.
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
    const float left = a[(long long)row * k + i], right = b[(long long)i * n + col];
    const float a1 = __half2float(__float2half(left)), b1 = __half2float(__float2half(right));
    const float a2 = __half2float(__float2half(left - a1));
    const float b2 = __half2float(__float2half(right - b1));
    sum += a1 * b1 + (a1 * b2 + a2 * b1);
  }
  y[(long long)row * n + col] = sum;
}
