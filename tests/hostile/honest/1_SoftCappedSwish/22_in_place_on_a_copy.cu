// SPDX-License-Identifier: MIT
// In place as well, but on a copy.
#include <torch/extension.h>

__global__ void swish(float* y, float alpha, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = 2.5f * tanhf(y[i] / (1.0f + expf(-alpha * y[i])) / 2.5f);
}

torch::Tensor forward(torch::Tensor x, double alpha) {
  auto y = x.clone();
  const int n = y.numel();
  swish<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), alpha, n);
  return y;
}
