# SPDX-License-Identifier: MIT
# The own kernel adds a bias, which may be zero, and does the GELU: without it the result changes.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

__global__ void bias_gelu(float* y, const float* bias, int columns, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    const float v = y[i] + bias[i % columns];
    y[i] = v * normcdff(v);
  }
}

torch::Tensor run(torch::Tensor y, torch::Tensor bias) {
  const int n = y.numel();
  bias_gelu<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), bias.data_ptr<float>(),
                                       y.size(1), n);
  return y;
}
"""

module = load_inline("gelu_adds_bias", "torch::Tensor run(torch::Tensor y, torch::Tensor bias);",
                     SOURCE, functions=["run"])


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return module.run(x @ self.linear.weight.t(), self.linear.bias)
