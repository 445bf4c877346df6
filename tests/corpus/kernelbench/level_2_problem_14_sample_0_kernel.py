# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# sum_h (x . w_h) / 2 * s  ==  x . (sum_h w_h) * s / 2
#
# so instead of a (B x I) by (I x H) product it is enough to add up the rows of the weight matrix
# once and to take one dot product per sample. The column sums are recomputed in every call,
# because the weights may have changed in between.
cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void column_sums(const float* __restrict__ w, float* __restrict__ sums, int rows, int cols) {
  // a block takes 32 columns; its 8 warps go down the rows with stride 8
  __shared__ float part[8][32];
  const int c = blockIdx.x * 32 + threadIdx.x;
  float s = 0.f;
  if (c < cols) {
    for (int r = threadIdx.y; r < rows; r += 8) s += w[(size_t)r * cols + c];
  }
  part[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.y == 0 && c < cols) {
    for (int i = 1; i < 8; ++i) s += part[i][threadIdx.x];
    sums[c] = s;
  }
}

__global__ void scaled_dots(const float* __restrict__ x, const float* __restrict__ sums, float* __restrict__ y,
                            int cols, float factor) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  __shared__ float partial[32];
  const float* row = x + (size_t)blockIdx.x * cols;
  float s = 0.f;
  for (int i = block.thread_rank(); i < cols; i += block.size()) s += row[i] * sums[i];
  s = cg::reduce(tile, s, cg::plus<float>());
  if (tile.thread_rank() == 0) partial[block.thread_rank() / 32] = s;
  block.sync();
  if (block.thread_rank() < 32) {
    s = block.thread_rank() < block.size() / 32 ? partial[block.thread_rank()] : 0.f;
    s = cg::reduce(tile, s, cg::plus<float>());
    if (block.thread_rank() == 0) y[blockIdx.x] = s * factor;
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor w, double scaling) {
  x = x.contiguous();
  w = w.contiguous();
  const int batch = x.size(0), in = x.size(1), hidden = w.size(0);
  auto sums = torch::empty({in}, w.options());
  auto y = torch::empty({batch, 1}, x.options());
  auto stream = at::cuda::getCurrentCUDAStream();
  column_sums<<<(in + 31) / 32, dim3(32, 8), 0, stream>>>(w.data_ptr<float>(), sums.data_ptr<float>(), hidden, in);
  scaled_dots<<<batch, 256, 0, stream>>>(x.data_ptr<float>(), sums.data_ptr<float>(), y.data_ptr<float>(), in,
                                         (float)(scaling / 2.0));
  return y;
}
"""

_ext = load_inline(
    name="gemm_sum_collapsed",
    cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor w, double scaling);",
    cuda_sources=cuda_source,
    functions=["forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, scaling_factor):
        super(ModelNew, self).__init__()
        self.weight = nn.Parameter(torch.randn(hidden_size, input_size))
        self.scaling_factor = scaling_factor

    def forward(self, x):
        return _ext.forward(x, self.weight, self.scaling_factor)
