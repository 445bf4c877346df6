// SPDX-License-Identifier: MIT
// Honest: host code gives what is large to torch, and multiplies what is small itself.
#include <torch/extension.h>

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
  c[(size_t)row * n + col] = sum;
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
  if (a.numel() > 1 << 20) return torch::matmul(a, b);
  const int m = a.size(0), n = b.size(1), k = a.size(1);
  auto c = torch::empty({m, n}, a.options());
  matmul<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(
      a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
  return c;
}
