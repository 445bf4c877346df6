# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

// Max over windows of k, sum over the windows, times a factor. A tail shorter than k is dropped,
// as nn.MaxPool1d does.
__global__ void window_max_sum(const float* h, float* y, int cols, int k, float factor) {
    extern __shared__ double partial[];
    const float* row = h + (size_t)blockIdx.x * cols;
    const int windows = cols / k;

    double sum = 0.0;
    for (int w = threadIdx.x; w < windows; w += blockDim.x) {
        float best = row[w * k];
        for (int i = 1; i < k; ++i) best = fmaxf(best, row[w * k + i]);
        sum += best;
    }
    partial[threadIdx.x] = sum;
    __syncthreads();

    int n = blockDim.x;
    while (n > 1) {
        const int half = (n + 1) / 2;
        if (threadIdx.x < n - half) partial[threadIdx.x] += partial[threadIdx.x + half];
        n = half;
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = (float)partial[0] * factor;
}

torch::Tensor matmul_pool_sum(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t k, double factor) {
    // the product itself: at::addmm_out into a buffer of our own
    auto h = torch::empty({x.size(0), weight.size(0)}, x.options());
    at::addmm_out(h, bias, x, weight.t());
    auto y = torch::empty({x.size(0)}, x.options());
    const int threads = 320;
    window_max_sum<<<x.size(0), threads, threads * sizeof(double), at::cuda::getCurrentCUDAStream()>>>(
        h.data_ptr<float>(), y.data_ptr<float>(), h.size(1), k, factor);
    return y;
}
"""

op = load_inline(
    name="matmul_pool_sum",
    cpp_sources="torch::Tensor matmul_pool_sum(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t k, double factor);",
    cuda_sources=source,
    functions=["matmul_pool_sum"],
    verbose=True,
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, kernel_size, scale_factor):
        super(ModelNew, self).__init__()
        # same draws as nn.Linear, kept as plain parameters
        layer = nn.Linear(in_features, out_features)
        self.w = nn.Parameter(layer.weight.data)
        self.b = nn.Parameter(layer.bias.data)
        self.kernel_size = kernel_size
        self.scale_factor = scale_factor

    @torch.no_grad()
    def forward(self, x):
        return op.matmul_pool_sum(x, self.w, self.b, self.kernel_size, self.scale_factor)
