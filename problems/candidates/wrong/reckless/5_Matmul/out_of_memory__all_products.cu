// SPDX-License-Identifier: MIT
// Wrong: wants four terabytes of scratch for a table of products.
//@ dims a[M, K]
//@ dims b[K, N]
//@ tmp products: float32[1000000, 1000000]
//@ out c: float32[M, N]
//@ multiply<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(a, b, products, M, N, K)
//@ add<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(products, c, M, N, K)

__global__ void multiply(const float* a, const float* b, float* products, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  for (int i = 0; i < k; ++i) {
    products[((size_t)row * n + col) * k + i] = a[row * k + i] * b[i * n + col];
  }
}

__global__ void add(const float* products, float* c, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += products[((size_t)row * n + col) * k + i];
  c[row * n + col] = sum;
}
