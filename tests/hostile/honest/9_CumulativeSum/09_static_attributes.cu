// SPDX-License-Identifier: MIT
// Honest: a function-local static holds what is asked of the device once; the sums are computed
// in each call.
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void running_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}

torch::Tensor forward(torch::Tensor x) {
  static const int device = [] {
    int found = 0;
    cudaGetDevice(&found);
    return found;
  }();
  TORCH_CHECK(device >= 0, "no device");
  auto y = torch::empty_like(x);
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
