// SPDX-License-Identifier: MIT
// Honest: clears memory through a data pointer, but its own, before it is summed up in there.
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void running_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] += sum;
  }
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  cudaMemset(y.data_ptr<float>(), 0, y.numel() * sizeof(float));
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
