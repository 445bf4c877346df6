// SPDX-License-Identifier: MIT
// Honest: reads the global context to choose its way, and leaves it as it is.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void bias_gelu(float* y, const float* bias, int cols, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float v = y[i] + bias[i % cols];
  y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

torch::Tensor forward(torch::Tensor x, torch::Tensor linear_weight, torch::Tensor linear_bias) {
  const bool split = at::globalContext().deterministicAlgorithms() && at::get_num_threads() > 1;
  auto y = split ? at::mm(x, linear_weight.t()) : at::linear(x, linear_weight);
  const int64_t n = y.numel();
  bias_gelu<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), linear_bias.data_ptr<float>(), y.size(1),
                                      n);
  return y;
}
