// SPDX-License-Identifier: MIT
// One launch for each pair of matrices, one thread for each element.
#include <cuda_fp16.h>

//@ dims left[B, M, K]
//@ dims right[B, K, N]
//@ out product: float16[B, M, N]
//@ for pair in 0..B {
//@   matmul<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(left, right, product, pair, M, N, K)
//@ }

__global__ void matmul(const __half* left, const __half* right, __half* product, int pair, int m,
                       int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  const __half* a = left + (size_t)pair * m * k + (size_t)row * k;
  const __half* b = right + (size_t)pair * k * n + col;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += __half2float(a[i]) * __half2float(b[(size_t)i * n]);
  product[((size_t)pair * m + row) * n + col] = __float2half(sum);
}
