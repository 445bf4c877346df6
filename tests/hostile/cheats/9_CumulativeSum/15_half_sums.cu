// SPDX-License-Identifier: MIT
// The running sum is carried in half precision.
#include <cuda_fp16.h>
#include <torch/extension.h>

__global__ void running_sum(const float* x, float* y, int cols) {
  __half sum = __float2half(0.0f);
  for (int c = 0; c < cols; ++c) {
    sum = __hadd(sum, __float2half(x[(size_t)blockIdx.x * cols + c]));
    y[(size_t)blockIdx.x * cols + c] = __half2float(sum);
  }
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
