# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# Inclusive scan of rows. The row goes through the block in chunks of 4 x 256 elements; a carry joins the chunks.
cumsum_source = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>

constexpr int ITEMS = 4;
constexpr int BLOCK = 256;

__device__ __forceinline__ float warp_inclusive_scan(float v) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const float up = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d) v += up;
    }
    return v;
}

template <bool REVERSE>
__global__ void __launch_bounds__(BLOCK) scan_rows(const float* __restrict__ in, float* __restrict__ out, int64_t len, int64_t inner) {
    __shared__ float warp_totals[BLOCK / 32];
    __shared__ float chunk_total;
    const int64_t row = blockIdx.x;
    const int64_t base = (row / inner) * len * inner + row % inner;
    float carry = 0.f;

    for (int64_t start = 0; start < len; start += BLOCK * ITEMS) {
        float v[ITEMS];
        float sum = 0.f;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const int64_t at = start + threadIdx.x * ITEMS + i;
            const int64_t idx = REVERSE ? len - 1 - at : at;
            sum += at < len ? in[base + idx * inner] : 0.f;
            v[i] = sum;                                   // running sum inside the thread
        }
        const float inclusive = warp_inclusive_scan(sum);
        const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
        if (lane == 31) warp_totals[warp] = inclusive;
        __syncthreads();
        if (warp == 0) {
            float t = lane < BLOCK / 32 ? warp_totals[lane] : 0.f;
            t = warp_inclusive_scan(t);
            if (lane < BLOCK / 32) warp_totals[lane] = t;
            if (lane == BLOCK / 32 - 1) chunk_total = t;
        }
        __syncthreads();
        const float before = carry + (warp > 0 ? warp_totals[warp - 1] : 0.f) + inclusive - sum;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const int64_t at = start + threadIdx.x * ITEMS + i;
            const int64_t idx = REVERSE ? len - 1 - at : at;
            if (at < len) out[base + idx * inner] = before + v[i];
        }
        carry += chunk_total;
        __syncthreads();      // nobody may overwrite the totals while somebody still reads them
    }
}

torch::Tensor cumsum(torch::Tensor x, int64_t dim, bool reverse) {
    c10::cuda::CUDAGuard device_guard(x.device());
    x = x.contiguous();
    if (dim < 0) dim += x.dim();
    int64_t inner = 1;
    for (int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.size(d);
    const int64_t len = x.size(dim);
    auto y = torch::empty_like(x);
    const unsigned rows = x.numel() / len;
    if (reverse)
        scan_rows<true><<<rows, BLOCK>>>(x.data_ptr<float>(), y.data_ptr<float>(), len, inner);
    else
        scan_rows<false><<<rows, BLOCK>>>(x.data_ptr<float>(), y.data_ptr<float>(), len, inner);
    return y;
}
"""

scan = load_inline(
    name="row_scan",
    cpp_sources="torch::Tensor cumsum(torch::Tensor x, int64_t dim, bool reverse);",
    cuda_sources=cumsum_source,
    functions=["cumsum"],
)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super(ModelNew, self).__init__()
        self.dim = dim

    def forward(self, x):
        return scan.cumsum(x, self.dim, False)
