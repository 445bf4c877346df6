# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

masked_src = """
#include <torch/extension.h>
#include <cub/block/block_scan.cuh>
#include <cuda_runtime.h>

#define BLOCK_THREADS 512

__global__ void masked_cumsum_kernel(const float* x, const bool* mask, float* out, int cols) {
    typedef cub::BlockScan<float, BLOCK_THREADS> Scan;
    __shared__ typename Scan::TempStorage temp;

    const long long offset = (long long)blockIdx.x * cols;
    float carry = 0.0f;
    for (int start = 0; start < cols; start += BLOCK_THREADS) {
        int i = start + threadIdx.x;
        float v = 0.0f;
        if (i < cols && mask[offset + i]) v = x[offset + i];
        float prefix, total;
        Scan(temp).InclusiveSum(v, prefix, total);
        if (i < cols) out[offset + i] = carry + prefix;
        carry += total;
        __syncthreads();
    }
}

torch::Tensor masked_cumsum(torch::Tensor x, torch::Tensor mask) {
    int cols = x.size(-1);
    int rows = x.numel() / cols;
    auto out = torch::empty_like(x);
    masked_cumsum_kernel<<<rows, BLOCK_THREADS>>>(x.data_ptr<float>(), mask.data_ptr<bool>(), out.data_ptr<float>(), cols);
    return out;
}
"""

ext = load_inline(
    name="masked_cumsum_ext",
    cpp_sources="torch::Tensor masked_cumsum(torch::Tensor x, torch::Tensor mask);",
    cuda_sources=masked_src,
    functions=["masked_cumsum"],
    verbose=False,
    extra_cflags=["-O3"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x, mask):
        # the kernel scans the last dimension
        xt = x.transpose(self.dim, -1).contiguous()
        mt = mask.transpose(self.dim, -1).contiguous()
        return ext.masked_cumsum(xt, mt).transpose(self.dim, -1).contiguous()
