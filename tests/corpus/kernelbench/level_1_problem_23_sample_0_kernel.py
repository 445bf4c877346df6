# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# Row softmax in one block per row. The running (max, sum) pair is carried online, so
# the row is read twice in total instead of three times.
SOFTMAX = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cfloat>

struct MaxSum { float m; float s; };

__device__ __forceinline__ MaxSum merge(MaxSum a, MaxSum b) {
    MaxSum big = a.m > b.m ? a : b;
    MaxSum small = a.m > b.m ? b : a;
    big.s = big.s + (small.s > 0.f ? small.s * __expf(small.m - big.m) : 0.f);
    return big;
}

__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int64_t cols) {
    extern __shared__ MaxSum scratch[];
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;

    MaxSum t{-INFINITY, 0.f};
    for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) {
        float v = x[c];
        if (v > t.m) { t.s = t.s * __expf(t.m - v) + 1.f; t.m = v; }
        else if (v > -INFINITY) { t.s += __expf(v - t.m); }
    }

    #pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        MaxSum o;
        o.m = __shfl_xor_sync(0xffffffffu, t.m, offset);
        o.s = __shfl_xor_sync(0xffffffffu, t.s, offset);
        t = merge(t, o);
    }
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    if (lane == 0) scratch[warp] = t;
    __syncthreads();
    MaxSum total = scratch[0];
    for (int w = 1; w < warps; ++w) total = merge(total, scratch[w]);

    const float inverse = 1.f / total.s;
    for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) y[c] = __expf(x[c] - total.m) * inverse;
}

torch::Tensor softmax_forward(torch::Tensor x) {
    TORCH_CHECK(x.dim() == 2, "softmax_forward wants a matrix");
    x = x.contiguous();
    auto y = torch::empty_like(x);
    int threads = x.size(1) >= 1024 ? 1024 : 128;
    softmax_rows<<<x.size(0), threads, threads / 32 * sizeof(MaxSum), at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
"""

softmax_module = load_inline(
    name="online_softmax",
    cpp_sources="torch::Tensor softmax_forward(torch::Tensor x);",
    cuda_sources=SOFTMAX,
    functions=["softmax_forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return softmax_module.softmax_forward(x)
