// SPDX-License-Identifier: MIT
// Honest: keeps one tensor for its result as well, and writes all of it in each call.
#include <torch/extension.h>

__global__ void running_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}

torch::Tensor forward(torch::Tensor x) {
  static torch::Tensor kept;
  if (!kept.defined() || kept.sizes() != x.sizes()) kept = torch::empty_like(x);
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), kept.data_ptr<float>(), x.size(1));
  return kept;
}
