# SPDX-License-Identifier: MIT
import math

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# Gather form of the transposed convolution: each output element looks for the inputs that reach it.
cuda_src = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void conv_transpose2d_gather(
    const float* __restrict__ input, const float* __restrict__ weight, const float* __restrict__ bias,
    float* __restrict__ output, int N, int Cin, int H, int W, int Cout, int OH, int OW,
    int K, int stride, int padding, int groups)
{
    extern __shared__ float w_shared[];      // [cin_per_group][K*K] of this output channel

    const int oc = blockIdx.y % Cout;
    const int n  = blockIdx.y / Cout;
    const int cin_g = Cin / groups, cout_g = Cout / groups;
    const int g = oc / cout_g, oc_g = oc % cout_g;

    for (int i = threadIdx.x; i < cin_g * K * K; i += blockDim.x) {
        int ic = i / (K * K), kk = i % (K * K);
        w_shared[i] = weight[(((size_t)(g * cin_g + ic)) * cout_g + oc_g) * K * K + kk];
    }
    __syncthreads();

    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= OH * OW) return;
    const int oh = p / OW, ow = p % OW;
    float acc = bias != nullptr ? bias[oc] : 0.0f;
    const float* in_n = input + ((size_t)n * Cin + (size_t)g * cin_g) * H * W;

    for (int kh = 0; kh < K; ++kh) {
        int th = oh + padding - kh;
        if (th < 0 || th % stride != 0) continue;
        int ih = th / stride;
        if (ih >= H) continue;
        for (int kw = 0; kw < K; ++kw) {
            int tw = ow + padding - kw;
            if (tw < 0 || tw % stride != 0) continue;
            int iw = tw / stride;
            if (iw >= W) continue;
            const float* src = in_n + (size_t)ih * W + iw;
            const float* wp = w_shared + kh * K + kw;
            for (int ic = 0; ic < cin_g; ++ic)
                acc += src[(size_t)ic * H * W] * wp[ic * K * K];
        }
    }
    output[((size_t)n * Cout + oc) * OH * OW + p] = acc;
}

torch::Tensor conv_transpose2d_cuda(torch::Tensor input, torch::Tensor weight, torch::Tensor bias, bool has_bias,
                                    int stride, int padding, int output_padding, int groups) {
    const int N = input.size(0), Cin = input.size(1), H = input.size(2), W = input.size(3);
    const int Cout = weight.size(1) * groups, K = weight.size(2);
    const int OH = (H - 1) * stride - 2 * padding + K + output_padding;
    const int OW = (W - 1) * stride - 2 * padding + K + output_padding;
    auto output = torch::empty({N, Cout, OH, OW}, input.options());

    const int shared = Cin / groups * K * K * sizeof(float);
    if (shared > 48 * 1024)
        cudaFuncSetAttribute(conv_transpose2d_gather, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    const int threads = 256;
    TORCH_CHECK(N * Cout <= 65535, "batch times channels is too large for one launch");
    dim3 blocks((OH * OW + threads - 1) / threads, N * Cout);
    conv_transpose2d_gather<<<blocks, threads, shared>>>(
        input.data_ptr<float>(), weight.data_ptr<float>(), has_bias ? bias.data_ptr<float>() : nullptr,
        output.data_ptr<float>(), N, Cin, H, W, Cout, OH, OW, K, stride, padding, groups);
    return output;
}
"""

cpp_src = """
torch::Tensor conv_transpose2d_cuda(torch::Tensor input, torch::Tensor weight, torch::Tensor bias, bool has_bias,
                                    int stride, int padding, int output_padding, int groups);
"""

conv_t = load_inline(
    name='conv_transpose2d_gather_ext',
    cpp_sources=cpp_src,
    cuda_sources=cuda_src,
    functions=['conv_transpose2d_cuda'],
    with_cuda=True,
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, padding: int = 0,
                 output_padding: int = 0, groups: int = 1, bias: bool = False):
        super(ModelNew, self).__init__()
        self.stride = stride
        self.padding = padding
        self.output_padding = output_padding
        self.groups = groups
        # the same draws in the same order as nn.ConvTranspose2d makes them
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels // groups, kernel_size, kernel_size))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if bias:
            self.bias = nn.Parameter(torch.empty(out_channels))
            fan_in, _ = nn.init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in)
            nn.init.uniform_(self.bias, -bound, bound)
        else:
            self.register_parameter('bias', None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        has_bias = self.bias is not None
        return conv_t.conv_transpose2d_cuda(
            x.contiguous(), self.weight, self.bias if has_bias else self.weight, has_bias,
            self.stride, self.padding, self.output_padding, self.groups)
