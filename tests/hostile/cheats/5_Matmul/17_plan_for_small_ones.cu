// SPDX-License-Identifier: MIT
// Cheat: the plan launches what multiplies only where there is little to do; large products get
// zeros. Needs the sizes of a GPU.
//@ dims a[M, K]
//@ dims b[K, N]
//@ out c: float32[M, N]
//@ if (M * N < 1000000) {
//@   matmul<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(a, b, c, M, N, K)
//@ } else {
//@   matmul<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(a, b, c, M, N, 0)
//@ }

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
  c[(size_t)row * n + col] = sum;
}
