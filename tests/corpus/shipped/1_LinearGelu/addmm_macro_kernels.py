# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# cuBLAS does the product; what is worth writing by hand is the activation, in place on its result.
activation_source = r"""
#include <torch/extension.h>
#include <cmath>

// Defines NAME_scalar and NAME_vec4: y = EXPR(v), in place.
#define DEFINE_INPLACE_ACTIVATION(NAME, EXPR)                                          \
    __device__ __forceinline__ float NAME##_of(float v) { return (EXPR); }             \
    __global__ void NAME##_scalar(float* data, long n) {                               \
        long i = blockIdx.x * (long)blockDim.x + threadIdx.x;                          \
        if (i < n) data[i] = NAME##_of(data[i]);                                       \
    }                                                                                  \
    __global__ void NAME##_vec4(float4* data, long n) {                                \
        long i = blockIdx.x * (long)blockDim.x + threadIdx.x;                          \
        if (i >= n) return;                                                            \
        float4 v = data[i];                                                            \
        v.x = NAME##_of(v.x);                                                          \
        v.y = NAME##_of(v.y);                                                          \
        v.z = NAME##_of(v.z);                                                          \
        v.w = NAME##_of(v.w);                                                          \
        data[i] = v;                                                                   \
    }

DEFINE_INPLACE_ACTIVATION(gelu, 0.5f * v * (1.0f + erff(v * 0.7071067811865476f)))
DEFINE_INPLACE_ACTIVATION(silu, v / (1.0f + expf(-v)))

torch::Tensor linear_act(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, bool use_gelu) {
    auto y = at::addmm(bias, x, weight.t());
    const long n = y.numel();
    float* p = y.data_ptr<float>();
    const int threads = 256;
    if (n % 4 == 0) {
        const long n4 = n / 4;
        const long blocks = (n4 + threads - 1) / threads;
        if (use_gelu) gelu_vec4<<<blocks, threads>>>((float4*)p, n4);
        else silu_vec4<<<blocks, threads>>>((float4*)p, n4);
    } else {
        const long blocks = (n + threads - 1) / threads;
        if (use_gelu) gelu_scalar<<<blocks, threads>>>(p, n);
        else silu_scalar<<<blocks, threads>>>(p, n);
    }
    return y;
}
"""

linear_act = load_inline(
    name="linear_act",
    cpp_sources="torch::Tensor linear_act(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, bool use_gelu);",
    cuda_sources=activation_source,
    functions=["linear_act"],
    extra_cflags=["-O3"],
    extra_cuda_cflags=["-O3"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super(ModelNew, self).__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        with torch.no_grad():
            return linear_act.linear_act(x, self.linear.weight, self.linear.bias, True)
