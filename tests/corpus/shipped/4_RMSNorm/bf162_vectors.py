# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

rms_norm_cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_bf16.h>

static constexpr int kThreads = 256;

static __device__ float block_sum(float v) {
    __shared__ float lanes[kThreads / 32];
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if ((threadIdx.x & 31) == 0) lanes[threadIdx.x >> 5] = v;
    __syncthreads();
    v = 0.f;
    for (int w = 0; w < kThreads / 32; ++w) v += lanes[w];
    return v;
}

// Eight bfloat16 travel as one 16-byte word.
union Pack {
    uint4 raw;
    __nv_bfloat162 pair[4];
};

static __global__ void rms_norm_vec8(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                                     __nv_bfloat16* __restrict__ y, int features, float eps) {
    const int packs = features / 8;
    const uint4* row = reinterpret_cast<const uint4*>(x + (int64_t)blockIdx.x * features);
    const uint4* w = reinterpret_cast<const uint4*>(weight);
    uint4* out = reinterpret_cast<uint4*>(y + (int64_t)blockIdx.x * features);

    float sum = 0.f;
    for (int i = threadIdx.x; i < packs; i += kThreads) {
        Pack p;
        p.raw = row[i];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float2 f = __bfloat1622float2(p.pair[j]);
            sum += f.x * f.x + f.y * f.y;
        }
    }
    const float inv = rsqrtf(block_sum(sum) / features + eps);

    for (int i = threadIdx.x; i < packs; i += kThreads) {
        Pack p, q, r;
        p.raw = row[i];
        q.raw = w[i];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float2 f = __bfloat1622float2(p.pair[j]);
            const float2 g = __bfloat1622float2(q.pair[j]);
            r.pair[j] = __floats2bfloat162_rn(f.x * inv * g.x, f.y * inv * g.y);
        }
        out[i] = r.raw;
    }
}

static __global__ void rms_norm_scalar(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                                       __nv_bfloat16* __restrict__ y, int features, float eps) {
    x += (int64_t)blockIdx.x * features;
    y += (int64_t)blockIdx.x * features;
    float sum = 0.f;
    for (int i = threadIdx.x; i < features; i += kThreads) {
        const float f = __bfloat162float(x[i]);
        sum += f * f;
    }
    const float inv = rsqrtf(block_sum(sum) / features + eps);
    for (int i = threadIdx.x; i < features; i += kThreads)
        y[i] = __float2bfloat16(__bfloat162float(x[i]) * inv * __bfloat162float(weight[i]));
}

torch::Tensor rms_norm_cuda(torch::Tensor x, torch::Tensor weight, double eps) {
    TORCH_CHECK(x.scalar_type() == torch::kBFloat16 && weight.scalar_type() == torch::kBFloat16);
    const int features = x.size(-1);
    const int64_t tokens = x.numel() / features;
    auto y = torch::empty_like(x);
    auto xp = reinterpret_cast<const __nv_bfloat16*>(x.data_ptr<at::BFloat16>());
    auto wp = reinterpret_cast<const __nv_bfloat16*>(weight.data_ptr<at::BFloat16>());
    auto yp = reinterpret_cast<__nv_bfloat16*>(y.data_ptr<at::BFloat16>());
    auto stream = at::cuda::getCurrentCUDAStream();
    if (features % 8 == 0)
        rms_norm_vec8<<<tokens, kThreads, 0, stream>>>(xp, wp, yp, features, eps);
    else
        rms_norm_scalar<<<tokens, kThreads, 0, stream>>>(xp, wp, yp, features, eps);
    return y;
}
"""

rms_norm_cpp_source = "torch::Tensor rms_norm_cuda(torch::Tensor x, torch::Tensor weight, double eps);"

rms_norm_module = load_inline(
    name="rms_norm_bf16",
    cpp_sources=rms_norm_cpp_source,
    cuda_sources=rms_norm_cuda_source,
    functions=["rms_norm_cuda"],
    extra_cuda_cflags=["-O3", "--use_fast_math"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, features: int, eps: float):
        super().__init__()
        # Same initialisation as nn.RMSNorm with a perturbed scale, kept as a bare parameter.
        self.scale = nn.Parameter(torch.ones(features, dtype=torch.bfloat16))
        with torch.no_grad():
            self.scale.normal_(1.0, 0.3)
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return rms_norm_module.rms_norm_cuda(x.contiguous(), self.scale, self.eps)
