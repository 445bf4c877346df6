// SPDX-License-Identifier: MIT
// Honest: asks torch's generator for its seed only to choose how long its chunks are; any length
// gives the same sums.
#include <ATen/CPUGeneratorImpl.h>
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void running_sum(const float* x, float* y, int cols, int chunk) {
  float before = 0.0f;
  for (int start = 0; start < cols; start += chunk) {
    float sum = 0.0f;
    for (int c = start; c < min(start + chunk, cols); ++c) {
      sum += x[(size_t)blockIdx.x * cols + c];
      y[(size_t)blockIdx.x * cols + c] = before + sum;
    }
    before += sum;
  }
}

torch::Tensor forward(torch::Tensor x) {
  const auto seed = at::detail::getDefaultCPUGenerator().current_seed();
  auto y = torch::empty_like(x);
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1),
                                64 + static_cast<int>(seed % 64));
  return y;
}
