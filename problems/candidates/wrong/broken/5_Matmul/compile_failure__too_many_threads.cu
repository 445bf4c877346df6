// SPDX-License-Identifier: MIT
// Wrong: 64 x 64 threads are four times what a block can have.
//@ dims a[M, K]
//@ dims b[K, N]
//@ out c: float32[M, N]
//@ matmul<<<(cdiv(N, 64), cdiv(M, 64)), (64, 64)>>>(a, b, c, M, N, K)

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
