// SPDX-License-Identifier: MIT
// Honest: host code keeps the grid for each shape that it has met.
#include <torch/extension.h>

#include <array>
#include <map>

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
  c[(size_t)row * n + col] = sum;
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
  static std::map<std::array<int64_t, 2>, dim3> grids;
  const int m = a.size(0), k = a.size(1), n = b.size(1);
  dim3& grid = grids[{m, n}];
  grid = dim3((n + 15) / 16, (m + 15) / 16);
  auto c = torch::empty({m, n}, a.options());
  matmul<<<grid, dim3(16, 16)>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m,
                                 n, k);
  return c;
}
