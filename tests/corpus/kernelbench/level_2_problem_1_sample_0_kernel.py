# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# The convolution stays with cuDNN; ReLU and the bias after it become one pass over its output.
fused_relu_bias_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void relu_bias_kernel(float* __restrict__ x, const float* __restrict__ bias, int channels, int hw, size_t total) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total) {
        int c = (i / hw) % channels;
        x[i] = fmaxf(x[i], 0.0f) + bias[c];
    }
}

__global__ void relu_bias_kernel4(float4* __restrict__ x, const float* __restrict__ bias, int channels, int hw4, size_t total4) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total4) {
        float b = bias[(i / hw4) % channels];
        float4 v = x[i];
        v.x = fmaxf(v.x, 0.0f) + b;
        v.y = fmaxf(v.y, 0.0f) + b;
        v.z = fmaxf(v.z, 0.0f) + b;
        v.w = fmaxf(v.w, 0.0f) + b;
        x[i] = v;
    }
}

torch::Tensor fused_relu_bias_cuda(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
    auto b = bias.contiguous().view({-1});
    int channels = x.size(1);
    TORCH_CHECK(b.numel() == channels, "one bias per channel");
    int hw = x.size(2) * x.size(3);
    size_t total = x.numel();
    const int threads = 256;
    if (hw % 4 == 0) {
        size_t total4 = total / 4;
        relu_bias_kernel4<<<(total4 + threads - 1) / threads, threads>>>(
            (float4*)x.data_ptr<float>(), b.data_ptr<float>(), channels, hw / 4, total4);
    } else {
        relu_bias_kernel<<<(total + threads - 1) / threads, threads>>>(
            x.data_ptr<float>(), b.data_ptr<float>(), channels, hw, total);
    }
    return x;
}
"""

fused_relu_bias_cpp = "torch::Tensor fused_relu_bias_cuda(torch::Tensor x, torch::Tensor bias);"

fused_relu_bias = load_inline(
    name="fused_relu_bias",
    cpp_sources=fused_relu_bias_cpp,
    cuda_sources=fused_relu_bias_source,
    functions=["fused_relu_bias_cuda"],
    verbose=True,
    extra_cflags=[""],
    extra_ldflags=[""],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super(ModelNew, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.fused = fused_relu_bias

    def forward(self, x):
        return self.fused.fused_relu_bias_cuda(self.conv(x).contiguous(), self.bias)
