# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

ln_cuda_source = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

// Mean and sum of squared deviations of `n` values, after Welford; merging after Chan et al.
struct Welford {
    float mean = 0.0f;
    float m2 = 0.0f;
    float n = 0.0f;

    __device__ void add(float x) {
        n += 1.0f;
        float d = x - mean;
        mean += d / n;
        m2 += d * (x - mean);
    }

    __device__ void merge(const Welford& o) {
        float total = n + o.n;
        if (total == 0.0f) return;
        float d = o.mean - mean;
        mean += d * (o.n / total);
        m2 += o.m2 + d * d * (n * o.n / total);
        n = total;
    }

    __device__ Welford shuffled(int mask) const {
        Welford o;
        o.mean = __shfl_xor_sync(0xffffffff, mean, mask);
        o.m2 = __shfl_xor_sync(0xffffffff, m2, mask);
        o.n = __shfl_xor_sync(0xffffffff, n, mask);
        return o;
    }
};

// one warp = one row, 8 rows per block
__global__ void scale_add_layer_norm(
    const float* __restrict__ projected, const float* __restrict__ x,
    const float* __restrict__ gamma, const float* __restrict__ beta,
    float* __restrict__ out, int rows, int features, float alpha, float eps)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;   // the whole warp leaves

    const float* p = projected + (size_t)row * features;
    const float* r = x + (size_t)row * features;
    float* o = out + (size_t)row * features;

    Welford w;
    for (int i = lane; i < features; i += 32) {
        float v = p[i] * alpha + r[i];
        o[i] = v;              // kept for the second pass; the same thread reads it again
        w.add(v);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        Welford other = w.shuffled(mask);
        w.merge(other);
    }
    float inv_std = rsqrtf(w.m2 / features + eps);
    for (int i = lane; i < features; i += 32) {
        o[i] = (o[i] - w.mean) * inv_std * gamma[i] + beta[i];
    }
}

torch::Tensor scale_add_ln(torch::Tensor projected, torch::Tensor x, torch::Tensor gamma, torch::Tensor beta,
                           double alpha, double eps) {
    int rows = x.size(0), features = x.size(1);
    auto out = torch::empty_like(x);
    scale_add_layer_norm<<<(rows + 7) / 8, 256>>>(
        projected.data_ptr<float>(), x.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(),
        out.data_ptr<float>(), rows, features, (float)alpha, (float)eps);
    return out;
}
"""

ln_cpp_source = """
torch::Tensor scale_add_ln(torch::Tensor projected, torch::Tensor x, torch::Tensor gamma, torch::Tensor beta,
                           double alpha, double eps);
"""

scale_add_ln = load_inline(
    name="scale_add_ln",
    cpp_sources=ln_cpp_source,
    cuda_sources=ln_cuda_source,
    functions=["scale_add_ln"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, features, alpha):
        super().__init__()
        self.linear = nn.Linear(features, features, bias=False)
        self.norm = nn.LayerNorm(features)
        self.alpha = alpha

    def forward(self, x):
        x = x.contiguous()
        projected = F.linear(x, self.linear.weight)  # cuBLAS is hard to beat here
        return scale_add_ln.scale_add_ln(projected, x, self.norm.weight, self.norm.bias, self.alpha, self.norm.eps)
