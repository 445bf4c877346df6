# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

argmax_cpp = "torch::Tensor argmax_forward(torch::Tensor x, int64_t dim);"

argmax_cuda = """
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <limits>

struct Candidate {
    float value;
    int64_t index;
};

// torch gives the first of equal maxima; a NaN beats every number
__device__ inline bool better(const Candidate& a, const Candidate& b) {
    if (isnan(a.value)) return !isnan(b.value) || a.index < b.index;
    if (isnan(b.value)) return false;
    return a.value > b.value || (a.value == b.value && a.index < b.index);
}

template <int kWarpsPerBlock>
__global__ void argmax_strided(const float* __restrict__ x, int64_t* __restrict__ out,
                               int64_t outputs, int64_t len, int64_t inner)
{
    const int64_t o = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= outputs) return;
    const float* p = x + (o / inner) * len * inner + o % inner;
    Candidate best{p[0], 0};
    for (int64_t i = 1; i < len; ++i) {
        Candidate c{p[i * inner], i};
        if (better(c, best)) best = c;
    }
    out[o] = best.index;
}

template <int kWarpsPerBlock>
__global__ void argmax_contiguous(const float* __restrict__ x, int64_t* __restrict__ out,
                                  int64_t outputs, int64_t len)
{
    const int64_t o = (int64_t)blockIdx.x * kWarpsPerBlock + threadIdx.y;
    if (o >= outputs) return;
    Candidate best{-std::numeric_limits<float>::infinity(), std::numeric_limits<int64_t>::max()};
    for (int64_t i = threadIdx.x; i < len; i += 32) {
        Candidate c{x[o * len + i], i};
        if (better(c, best)) best = c;
    }
    for (int d = 16; d > 0; d /= 2) {
        Candidate c;
        c.value = __shfl_down_sync(0xffffffff, best.value, d);
        c.index = __shfl_down_sync(0xffffffff, best.index, d);
        if (better(c, best)) best = c;
    }
    if (threadIdx.x == 0) out[o] = best.index;
}

torch::Tensor argmax_forward(torch::Tensor x, int64_t dim) {
    TORCH_CHECK(x.scalar_type() == torch::kFloat, "argmax_forward: float32 expected");
    x = x.contiguous();
    if (dim < 0) dim += x.dim();
    std::vector<int64_t> shape;
    int64_t inner = 1;
    for (int64_t d = 0; d < x.dim(); ++d) {
        if (d != dim) shape.push_back(x.size(d));
        if (d > dim) inner *= x.size(d);
    }
    auto out = torch::empty(shape, x.options().dtype(torch::kInt64));
    const int64_t n = out.numel();
    if (inner == 1) {
        argmax_contiguous<4><<<(n + 3) / 4, dim3(32, 4)>>>(x.data_ptr<float>(), out.data_ptr<int64_t>(), n, x.size(dim));
    } else {
        argmax_strided<8><<<(n + 255) / 256, 8 * 32>>>(x.data_ptr<float>(), out.data_ptr<int64_t>(), n, x.size(dim), inner);
    }
    return out;
}
"""

argmax_module = load_inline(
    name="argmax_module",
    cpp_sources=argmax_cpp,
    cuda_sources=argmax_cuda,
    functions=["argmax_forward"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, dim: int):
        super(ModelNew, self).__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return argmax_module.argmax_forward(x, self.dim)
