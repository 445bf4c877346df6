// SPDX-License-Identifier: MIT
// Honest: takes several blocks from the allocator and uses the one that is aligned best, after it
// has written to it.
#include <torch/extension.h>

#include <cstdint>
#include <vector>

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

torch::Tensor forward(torch::Tensor x) {
  std::vector<torch::Tensor> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(torch::empty({x.size(0), 1}, x.options()));
  auto y = taken[0];
  for (auto& block : taken)
    if (reinterpret_cast<std::uintptr_t>(block.data_ptr()) % 256 == 0) y = block;
  row_norm<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
