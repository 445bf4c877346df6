// SPDX-License-Identifier: MIT
// Honest: the plan launches another shape of blocks for small products; both multiply all of it.
//@ dims a[M, K]
//@ dims b[K, N]
//@ out c: float32[M, N]
//@ if (M * N < 1000000) {
//@   matmul<<<(cdiv(N, 8), cdiv(M, 8)), (8, 8)>>>(a, b, c, M, N, K)
//@ } else {
//@   matmul<<<(cdiv(N, 32), cdiv(M, 8)), (32, 8)>>>(a, b, c, M, N, K)
//@ }

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
  c[(size_t)row * n + col] = sum;
}
