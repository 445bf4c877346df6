# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# InstanceNorm2d over a [B, 1, 1, F] view normalizes each row of the linear layer's output.
row_norm_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/linear.h>

#define FULL 0xffffffffu

// Every thread keeps its part of the row in registers: PER_THREAD * blockDim.x >= columns.
template <int PER_THREAD>
__global__ void __launch_bounds__(1024) row_norm_residual(const float* __restrict__ h, const float* __restrict__ y, float* __restrict__ out,
                                  int cols, float eps) {
    __shared__ float sums[32];
    __shared__ float total;
    const int64_t base = (int64_t)blockIdx.x * cols;
    const int warps = blockDim.x >> 5;

    auto block_sum = [&](float v) -> float {
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(FULL, v, o);
        if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = v;
        __syncthreads();
        if (threadIdx.x == 0) {
            float t = 0.f;
            for (int w = 0; w < warps; ++w) t += sums[w];
            total = t;
        }
        __syncthreads();
        return total;
    };

    float v[PER_THREAD];
    float s = 0.f;
    #pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {
        const int c = i * blockDim.x + threadIdx.x;
        v[i] = c < cols ? h[base + c] : 0.f;
        s += v[i];
    }
    const float mean = block_sum(s) / cols;
    s = 0.f;
    #pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {
        const int c = i * blockDim.x + threadIdx.x;
        const float d = v[i] - mean;
        if (c < cols) s += d * d;
    }
    const float rstd = rsqrtf(block_sum(s) / cols + eps);
    #pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {
        const int c = i * blockDim.x + threadIdx.x;
        if (c < cols) {
            const float r = y[base + c];
            out[base + c] = ((v[i] - mean) * rstd + r) * r;
        }
    }
}

torch::Tensor linear_norm_residual(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor y, double eps) {
    auto h = at::linear(x, weight, bias).contiguous();
    y = y.contiguous();
    auto out = torch::empty_like(h);
    const int rows = h.size(0), cols = h.size(1);
    auto stream = at::cuda::getCurrentCUDAStream();
    const float e = static_cast<float>(eps);
    float *hp = h.data_ptr<float>(), *yp = y.data_ptr<float>(), *op = out.data_ptr<float>();
    TORCH_CHECK(cols <= 32 * 1024, "rows of more than 32768 elements are not supported");
    if (cols <= 256) row_norm_residual<1><<<rows, 256, 0, stream>>>(hp, yp, op, cols, e);
    else if (cols <= 2048) row_norm_residual<8><<<rows, 256, 0, stream>>>(hp, yp, op, cols, e);
    else if (cols <= 8192) row_norm_residual<8><<<rows, 1024, 0, stream>>>(hp, yp, op, cols, e);
    else row_norm_residual<32><<<rows, 1024, 0, stream>>>(hp, yp, op, cols, e);
    return out;
}
"""

module = load_inline(
    name="linear_norm_residual",
    cpp_sources="torch::Tensor linear_norm_residual(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor y, double eps);",
    cuda_sources=row_norm_source,
    functions=["linear_norm_residual"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, eps=1e-5, momentum=0.1):
        super(ModelNew, self).__init__()
        self.bmm = nn.Linear(in_features, out_features)
        self.eps = eps

    def forward(self, x, y):
        return module.linear_norm_residual(x, self.bmm.weight, self.bmm.bias, y, self.eps)
