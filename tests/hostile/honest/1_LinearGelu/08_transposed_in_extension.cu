// SPDX-License-Identifier: MIT
// Honest: keeps the transposed weight for as long as it is the same tensor with the same version.
#include <torch/extension.h>

__global__ void linear_gelu(const float* x, const float* weight, const float* bias, float* y, int m,
                            int n, int k) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= m * n) return;
  float sum = bias[i % n];
  for (int j = 0; j < k; ++j) sum += x[i / n * k + j] * weight[j * n + i % n];
  y[i] = 0.5f * sum * (1.0f + erff(sum * 0.70710678f));
}

torch::Tensor forward(torch::Tensor x, torch::Tensor linear_weight, torch::Tensor linear_bias) {
  static torch::Tensor source, packed;
  static int64_t version = -1;
  if (!source.defined() || !source.is_same(linear_weight) || version != linear_weight._version()) {
    source = linear_weight;
    version = linear_weight._version();
    packed = linear_weight.t().contiguous();
  }
  const int m = x.size(0), n = linear_weight.size(0), k = x.size(1);
  auto y = torch::empty({m, n}, x.options());
  linear_gelu<<<(m * n + 127) / 128, 128>>>(x.data_ptr<float>(), packed.data_ptr<float>(),
                                            linear_bias.data_ptr<float>(), y.data_ptr<float>(), m,
                                            n, k);
  return y;
}
