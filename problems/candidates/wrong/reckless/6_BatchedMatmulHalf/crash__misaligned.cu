// SPDX-License-Identifier: MIT
// Wrong: reads pairs of halves from odd positions, which are not aligned to a pair.
#include <cuda_fp16.h>

//@ dims left[B, M, K]
//@ dims right[B, K, N]
//@ out product: float16[B, M, N]
//@ matmul<<<(cdiv(N, 16), cdiv(M, 16), B), (16, 16)>>>(left, right, product, M, N, K)

__global__ void matmul(const __half* left, const __half* right, __half* product, int m, int n,
                       int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  const __half* a = left + ((size_t)blockIdx.z * m + row) * k;
  const __half* b = right + (size_t)blockIdx.z * k * n + col;
  float sum = __half2float(a[0]) * __half2float(b[0]);
  for (int i = 1; i + 1 < k; i += 2) {
    float2 pair = __half22float2(*reinterpret_cast<const __half2*>(a + i));
    sum += pair.x * __half2float(b[(size_t)i * n]) + pair.y * __half2float(b[(size_t)(i + 1) * n]);
  }
  product[((size_t)blockIdx.z * m + row) * n + col] = __float2half(sum);
}
