# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

NUM_THREADS = 128
WARPS = NUM_THREADS // 32

# a warp per (row, group); the group is read three times, but from L1
cuda_src = f"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#define WARPS {WARPS}

__device__ __forceinline__ float sum32(float v) {{
    #pragma unroll
    for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffff, v, o);
    return v;
}}

__device__ __forceinline__ float swish(float v) {{ return v / (1.0f + expf(-v)); }}

__global__ void __launch_bounds__({NUM_THREADS}) gn_swish_mul_swish(
    const float* __restrict__ h, const float* __restrict__ gamma, const float* __restrict__ beta,
    const float* __restrict__ mul, float* __restrict__ out, long long jobs, int groups, int size, float eps)
{{
    const long long job = (long long)blockIdx.x * WARPS + threadIdx.x / 32;
    if (job >= jobs) return;
    const int lane = threadIdx.x % 32;
    const int first = (int)(job % groups) * size;
    const float* src = h + (job / groups) * groups * size + first;
    float* dst = out + (job / groups) * groups * size + first;

    float s = 0.0f;
    for (int i = lane; i < size; i += 32) s += src[i];
    const float mean = sum32(s) / size;
    s = 0.0f;
    for (int i = lane; i < size; i += 32) s += (src[i] - mean) * (src[i] - mean);
    const float rstd = rsqrtf(sum32(s) / size + eps);

    for (int i = lane; i < size; i += 32) {{
        const int c = first + i;
        float v = swish((src[i] - mean) * rstd * gamma[c] + beta[c]);
        dst[i] = swish(v * mul[c]);
    }}
}}

torch::Tensor gn_swish(torch::Tensor h, torch::Tensor gamma, torch::Tensor beta, torch::Tensor mul, int64_t groups, double eps) {{
    h = h.contiguous();
    auto out = torch::empty_like(h);
    const long long jobs = h.size(0) * groups;
    const int size = h.size(1) / groups;
    gn_swish_mul_swish<<<(jobs + WARPS - 1) / WARPS, {NUM_THREADS}, 0, at::cuda::getCurrentCUDAStream()>>>(
        h.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), mul.data_ptr<float>(),
        out.data_ptr<float>(), jobs, groups, size, eps);
    return out;
}}
"""

gn_ext = load_inline(
    name="gn_swish_mul_swish",
    cpp_sources="torch::Tensor gn_swish(torch::Tensor h, torch::Tensor gamma, torch::Tensor beta, torch::Tensor mul, int64_t groups, double eps);",
    cuda_sources=cuda_src,
    functions=["gn_swish"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, num_groups, multiply_weight_shape):
        super(ModelNew, self).__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.group_norm = nn.GroupNorm(num_groups, out_features)
        self.multiply_weight = nn.Parameter(torch.randn(multiply_weight_shape))

    def forward(self, x):
        h = self.gemm(x)
        return gn_ext.gn_swish(h, self.group_norm.weight, self.group_norm.bias, self.multiply_weight,
                               self.group_norm.num_groups, self.group_norm.eps)
