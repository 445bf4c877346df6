# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# One cooperative kernel: partial sums of squares, a barrier over the grid, then the division. The grid
# is as large as the device can hold at once, which a cooperative launch demands.
frobenius_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ double block_sum(double v) {
  __shared__ double warps[32];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < (int)blockDim.x / 32; ++w) v += warps[w];
  return v;                              // valid in thread 0
}

__global__ void frobenius_normalize(const float* __restrict__ x, float* __restrict__ y, double* __restrict__ partial, long long n) {
  cg::grid_group grid = cg::this_grid();
  __shared__ float inverse;
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long step = (long long)gridDim.x * blockDim.x;

  double square = 0.0;
  for (long long i = first; i < n; i += step) square += (double)x[i] * x[i];
  square = block_sum(square);
  if (threadIdx.x == 0) partial[blockIdx.x] = square;
  grid.sync();

  double total = 0.0;
  for (int b = threadIdx.x; b < (int)gridDim.x; b += blockDim.x) total += partial[b];
  total = block_sum(total);
  if (threadIdx.x == 0) inverse = (float)(1.0 / sqrt(total));
  __syncthreads();
  for (long long i = first; i < n; i += step) y[i] = x[i] * inverse;
}

torch::Tensor frobenius(torch::Tensor x) {
  x = x.contiguous();
  auto y = torch::empty_like(x);
  const int threads = 256;
  int per_sm = 0;
  C10_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, frobenius_normalize, threads, 0));
  const long long wanted = (x.numel() + threads - 1) / threads;
  const long long room = (long long)per_sm * at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  const int blocks = (int)std::max<long long>(1, std::min(wanted, room));
  auto partial = torch::empty({blocks}, x.options().dtype(torch::kFloat64));

  const float* in = x.data_ptr<float>();
  float* out = y.data_ptr<float>();
  double* sums = partial.data_ptr<double>();
  long long n = x.numel();
  void* args[] = {(void*)&in, (void*)&out, (void*)&sums, (void*)&n};
  C10_CUDA_CHECK(cudaLaunchCooperativeKernel((void*)frobenius_normalize, dim3(blocks), dim3(threads), args, 0,
                                             at::cuda::getCurrentCUDAStream()));
  return y;
}
"""

frobenius_ext = load_inline(
    name="frobenius_cooperative",
    cpp_sources="torch::Tensor frobenius(torch::Tensor x);",
    cuda_sources=frobenius_source,
    functions=["frobenius"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return frobenius_ext.frobenius(x)
