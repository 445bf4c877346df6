# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

avg_pool_src = """
#include <torch/extension.h>
#include <cuda_runtime.h>

// padding counts as zeros and is part of the divisor, except beyond the padded border
__global__ void avg_pool2d_forward(const float* __restrict__ x, float* __restrict__ y,
                                   const int H, const int W, const int OH, const int OW,
                                   const int k, const int s, const int p, const long long total)
{
    for (long long idx = blockIdx.x * (long long)blockDim.x + threadIdx.x; idx < total;
         idx += (long long)blockDim.x * gridDim.x)
    {
        const int ow = (int)(idx % OW);
        const int oh = (int)((idx / OW) % OH);
        const long long nc = idx / ((long long)OW * OH);
        const float* plane = x + nc * (long long)H * W;

        const int h0 = oh * s - p, w0 = ow * s - p;
        const int h1 = min(h0 + k, H + p), w1 = min(w0 + k, W + p);
        const float divisor = (float)((h1 - h0) * (w1 - w0));
        float sum = 0.0f;
        for (int h = max(h0, 0); h < min(h1, H); ++h) {
            float line = 0.0f;
            for (int w = max(w0, 0); w < min(w1, W); ++w) line += plane[(long long)h * W + w];
            sum += line;
        }
        y[idx] = sum / divisor;
    }
}

torch::Tensor avg_pool2d(torch::Tensor x, int64_t kernel, int64_t stride, int64_t padding) {
    x = x.contiguous();
    const int H = x.size(2), W = x.size(3);
    const int OH = (H + 2 * padding - kernel) / stride + 1;
    const int OW = (W + 2 * padding - kernel) / stride + 1;
    torch::Tensor y = torch::zeros({x.size(0), x.size(1), OH, OW}, x.options());
    const long long total = y.numel();
    int blocks = (int)std::min((total + 127) / 128, 1LL << 22);
    avg_pool2d_forward<<<blocks, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), H, W, OH, OW,
                                        kernel, stride, padding, total);
    return y;
}
"""


class ModelNew(nn.Module):
    def __init__(self, kernel_size: int, stride: int = None, padding: int = 0):
        super(ModelNew, self).__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.op = load_inline(
            name="avg_pool2d_op",
            cpp_sources="torch::Tensor avg_pool2d(torch::Tensor x, int64_t kernel, int64_t stride, int64_t padding);",
            cuda_sources=avg_pool_src,
            functions="avg_pool2d",
            verbose=False,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.op.avg_pool2d(x, self.kernel_size, self.stride, self.padding)
