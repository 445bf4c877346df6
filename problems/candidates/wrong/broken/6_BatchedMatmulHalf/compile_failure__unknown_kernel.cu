// SPDX-License-Identifier: MIT
// Wrong: the plan launches a kernel that the source does not have.
#include <cuda_fp16.h>

//@ dims left[B, M, K]
//@ dims right[B, K, N]
//@ out product: float16[B, M, N]
//@ batched_matmul<<<(cdiv(N, 16), cdiv(M, 16), B), (16, 16)>>>(left, right, product, M, N, K)

__global__ void matmul_batched(const __half* left, const __half* right, __half* product, int m,
                               int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  const __half* a = left + ((size_t)blockIdx.z * m + row) * k;
  const __half* b = right + (size_t)blockIdx.z * k * n + col;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += __half2float(a[i]) * __half2float(b[(size_t)i * n]);
  product[((size_t)blockIdx.z * m + row) * n + col] = __float2half(sum);
}
