// SPDX-License-Identifier: MIT
// Honest: packs the weights in `__device__` memory too, in each call.
//@ dims x[M, K]
//@ let N = numel(linear.bias)
//@ out y: float32[M, N]
//@ pack<<<cdiv(N * K, 256), 256>>>(linear.weight, N, K)
//@ linear_gelu<<<cdiv(M * N, 128), 128>>>(x, linear.bias, y, M, N, K)

__device__ float packed[1 << 22];

__global__ void pack(const float* weight, int n, int k) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n * k) packed[i % k * n + i / k] = weight[i];
}

__global__ void linear_gelu(const float* x, const float* bias, float* y, int m, int n, int k) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= m * n) return;
  float sum = bias[i % n];
  for (int j = 0; j < k; ++j) sum += x[i / n * k + j] * packed[j * n + i % n];
  y[i] = 0.5f * sum * (1.0f + erff(sum * 0.70710678f));
}
