// SPDX-License-Identifier: MIT
// Honest: a counter in host code that limits a warning to the first call.
#include <torch/extension.h>
#include <cuda_runtime.h>

#include <cstdio>

__global__ void running_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}

torch::Tensor forward(torch::Tensor x) {
  static int calls = 0;
  auto y = torch::empty_like(x);
  if (++calls == 1 && x.size(1) % 4 != 0) std::fprintf(stderr, "rows are not aligned\n");
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
