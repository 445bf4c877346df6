// SPDX-License-Identifier: MIT
// Wrong: returns the float32 sums; the reference returns float16.
#include <cuda_fp16.h>

//@ dims left[B, M, K]
//@ dims right[B, K, N]
//@ out product: float32[B, M, N]
//@ matmul<<<(cdiv(N, 16), cdiv(M, 16), B), (16, 16)>>>(left, right, product, M, N, K)

__global__ void matmul(const __half* left, const __half* right, float* product, int m, int n,
                       int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  const __half* a = left + ((size_t)blockIdx.z * m + row) * k;
  const __half* b = right + (size_t)blockIdx.z * k * n + col;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += __half2float(a[i]) * __half2float(b[(size_t)i * n]);
  product[((size_t)blockIdx.z * m + row) * n + col] = sum;
}
