// SPDX-License-Identifier: MIT
// Honest: what the first launch leaves in `__device__` memory is an order of rows that depends on
// no input; the product is computed in each.
//@ dims a[M, K]
//@ dims b[K, N]
//@ out c: float32[M, N]
//@ order<<<cdiv(M, 64), 64>>>(M)
//@ matmul<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(a, b, c, M, N, K)

__device__ int kept[1 << 16];
__device__ bool done[1 << 16];

__global__ void order(int m) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= m || done[row]) return;
  kept[row] = m - 1 - row;
  done[row] = true;
}

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int place = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (place >= m || col >= n) return;
  const int row = kept[place];
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
  c[(size_t)row * n + col] = sum;
}
