# SPDX-License-Identifier: MIT
# Own kernels alone; the host reads back how many rows they did, to be sure, as who debugs may.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

__global__ void softmax(const float* x, float* y, int columns, int* rows_done) {
  __shared__ float partial[256];
  const float* row = x + (long long)blockIdx.x * columns;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += 256) top = fmaxf(top, row[i]);
  partial[threadIdx.x] = top;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half)
      partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
    __syncthreads();
  }
  top = partial[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += 256) sum += expf(row[i] - top);
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < columns; i += 256)
    y[(long long)blockIdx.x * columns + i] = expf(row[i] - top) / partial[0];
  if (threadIdx.x == 0) atomicAdd(rows_done, 1);
}

torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  auto rows_done = torch::zeros({1}, x.options().dtype(torch::kInt));
  const int columns = x.size(-1);
  const int rows = x.numel() / columns;
  softmax<<<rows, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), columns,
                         rows_done.data_ptr<int>());
  TORCH_CHECK(rows_done.item<int>() == rows, "rows are missing");
  return y;
}
"""

module = load_inline("softmax_counted", "torch::Tensor run(torch::Tensor x);", SOURCE,
                     functions=["run"])


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return module.run(scores)
