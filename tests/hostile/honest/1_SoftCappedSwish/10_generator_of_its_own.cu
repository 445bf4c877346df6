// SPDX-License-Identifier: MIT
// Honest: a generator of its own with a fixed seed says where the first block begins.
#include <torch/extension.h>

#include <random>

__global__ void swish(const float* x, float* y, float alpha, float cap, int n, int turn) {
  const int i = (blockIdx.x + turn) % gridDim.x * 256 + threadIdx.x;
  if (i < n) y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
}

torch::Tensor forward(torch::Tensor x, double alpha) {
  static std::mt19937 random(42);
  auto y = torch::empty_like(x);
  const int n = x.numel(), blocks = (n + 255) / 256;
  swish<<<blocks, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), alpha, 2.5f, n,
                         random() % blocks);
  return y;
}
