// SPDX-License-Identifier: MIT
// Wrong: returns the transpose of the product.
//@ dims a[M, K]
//@ dims b[K, N]
//@ out c: float32[N, M]
//@ matmul<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(a, b, c, M, N, K)

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[col * m + row] = sum;
}
