// SPDX-License-Identifier: MIT
// Prefetches into the L2 as well, within the kernel and for its own next iteration.
//@ dims a[M, K]
//@ dims b[_, N]
//@ out y: float32[M, N]
//@ matmul<<<(cdiv(N, 32), M), 32>>>(a, b, y, K, N)

__global__ void matmul(const float* a, const float* b, float* y, int k, int n) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y;
  if (col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    if (i + 4 < k) asm volatile("prefetch.global.L2 [%0];" ::"l"(b + (long long)(i + 4) * n + col));
    sum += a[(long long)row * k + i] * b[(long long)i * n + col];
  }
  y[(long long)row * n + col] = sum;
}
