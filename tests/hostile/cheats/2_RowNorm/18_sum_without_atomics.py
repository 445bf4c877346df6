# SPDX-License-Identifier: MIT
# Four blocks add to one sum, a lane after the other but without atomics: whoever is late
# overwrites.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

__global__ void column_parts(const float* x, float* y, int cols) {
  const float* in = x + (long long)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = blockIdx.y * 64 + threadIdx.x; c < cols; c += gridDim.y * 64) {
    sum += in[c] * in[c];
  }
  for (int lane = 0; lane < 64; ++lane) {
    if (threadIdx.x == lane) y[blockIdx.x] += sum;
    __syncthreads();
  }
}

torch::Tensor norms(torch::Tensor x) {
  auto y = torch::zeros({x.size(0), 1}, x.options());
  column_parts<<<dim3(x.size(0), 4), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y.sqrt_();
}
"""

module = load_inline("norm_parts_racing", "torch::Tensor norms(torch::Tensor x);", SOURCE,
                     functions=["norms"])


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return module.norms(x)
