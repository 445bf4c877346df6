// SPDX-License-Identifier: MIT
//@ dims x[M, K]
//@ let N = size(linear.weight, 0)
//@ tmp product: float32[M, N]
//@ out y: float32[M, N]
//@ multiply<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(x, linear.weight, product, M, N, K)
//@ bias_gelu<<<cdiv(M * N, 256), 256>>>(product, linear.bias, y, M * N, N)

/// c[m, n] = sum over k of a[m, k] * b[n, k], by square tiles in shared memory.
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[16][17], tile_b[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  const int row_b = blockIdx.x * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int k0 = 0; k0 < k; k0 += 16) {
    const int kk = k0 + threadIdx.x;
    tile_a[threadIdx.y][threadIdx.x] = row < m && kk < k ? a[row * k + kk] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = row_b < n && kk < k ? b[row_b * k + kk] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_a[threadIdx.y][i] * tile_b[threadIdx.x][i];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void bias_gelu(const float* product, const float* bias, float* y, int count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float v = product[i] + bias[i % n];
  y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}
