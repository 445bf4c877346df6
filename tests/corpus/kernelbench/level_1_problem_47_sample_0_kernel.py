# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# x is seen as [outer, reduce, inner]. inner == 1: a warp per output. Otherwise a tile of 32 columns by
# 8 slices of the reduced dimension per block, so that reads along `inner` stay coalesced.
source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void sum_last(const float* __restrict__ x, float* __restrict__ y, int64_t outer, int64_t len) {
  const int64_t row = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= outer) return;
  float s = 0.f;
  for (int64_t i = threadIdx.x % 32; i < len; i += 32) s += x[row * len + i];
  for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(0xffffffff, s, d);
  if (threadIdx.x % 32 == 0) y[row] = s;
}

__global__ void sum_middle(const float* __restrict__ x, float* __restrict__ y, int64_t len, int64_t inner) {
  __shared__ float tile[8][33];
  const int64_t column = (int64_t)blockIdx.x * 32 + threadIdx.x;
  const float* p = x + blockIdx.y * len * inner + column;
  float s = 0.f;
  if (column < inner)
    for (int64_t r = threadIdx.y; r < len; r += 8) s += p[r * inner];
  tile[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.y == 0 && column < inner) {
    #pragma unroll
    for (int i = 1; i < 8; ++i) s += tile[i][threadIdx.x];
    y[blockIdx.y * inner + column] = s;
  }
}

torch::Tensor sum_dim(torch::Tensor x, int64_t dim) {
  dim = dim < 0 ? dim + x.dim() : dim;
  x = x.contiguous();
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < dim; ++d) outer *= x.size(d);
  for (int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.size(d);
  auto shape = x.sizes().vec();
  const int64_t len = shape[dim];
  shape[dim] = 1;
  auto y = torch::empty(shape, x.options());
  auto stream = at::cuda::getCurrentCUDAStream();
  if (inner == 1) {
    sum_last<<<(outer + 7) / 8, 256, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), outer, len);
  } else {
    // gridDim.y is limited: go over the outer dimension in pieces
    for (int64_t first = 0; first < outer; first += 65535) {
      const int64_t count = std::min<int64_t>(65535, outer - first);
      sum_middle<<<dim3((inner + 31) / 32, count), dim3(32, 8), 0, stream>>>(
          x.data_ptr<float>() + first * len * inner, y.data_ptr<float>() + first * inner, len, inner);
    }
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""

sum_ext = load_inline("sum_over_dim", ["torch::Tensor sum_dim(torch::Tensor x, int64_t dim);"], [source], functions=["sum_dim"],
                      extra_cuda_cflags=["-O3", "--use_fast_math"])


class ModelNew(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sum_ext.sum_dim(x, self.dim)
