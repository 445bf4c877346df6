# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

masked_softmax_cuda = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

#define THREADS 128

template <bool kMax>
__device__ float reduce_block(float v) {
    __shared__ float buf[THREADS / 32];
    #pragma unroll
    for (int o = 16; o > 0; o >>= 1) {
        const float other = __shfl_xor_sync(0xffffffffu, v, o);
        v = kMax ? fmaxf(v, other) : v + other;
    }
    if (threadIdx.x % 32 == 0) buf[threadIdx.x / 32] = v;
    __syncthreads();
    v = buf[0];
    #pragma unroll
    for (int w = 1; w < THREADS / 32; ++w) v = kMax ? fmaxf(v, buf[w]) : v + buf[w];
    return v;
}

// One block per query row. The scaled and masked scores wait in shared memory as floats where the
// row is short enough (kCached), otherwise they are computed again.
template <typename scalar_t, bool kCached>
__global__ void masked_softmax_kernel(const scalar_t* __restrict__ scores, const bool* __restrict__ keep,
                                      scalar_t* __restrict__ out, int64_t rows_per_batch, int keys, float scale) {
    extern __shared__ float cache[];
    const int64_t row = blockIdx.x;
    const scalar_t* src = scores + row * keys;
    const bool* mask = keep + (row / rows_per_batch) * keys;
    scalar_t* dst = out + row * keys;

    auto value = [&](int k) { return mask[k] ? static_cast<float>(src[k]) * scale : -INFINITY; };

    float top = -INFINITY;
    for (int k = threadIdx.x; k < keys; k += THREADS) {
        const float v = value(k);
        if (kCached) cache[k] = v;
        top = fmaxf(top, v);
    }
    top = reduce_block<true>(top);

    float sum = 0.0f;
    for (int k = threadIdx.x; k < keys; k += THREADS) {
        const float e = __expf((kCached ? cache[k] : value(k)) - top);
        if (kCached) cache[k] = e;
        sum += e;
    }
    const float inv = 1.0f / reduce_block<false>(sum);

    for (int k = threadIdx.x; k < keys; k += THREADS) {
        const float e = kCached ? cache[k] : __expf(value(k) - top);
        dst[k] = static_cast<scalar_t>(e * inv);
    }
}

torch::Tensor masked_softmax(torch::Tensor scores, torch::Tensor keep, double scale) {
    TORCH_CHECK(keep.scalar_type() == torch::kBool, "keep must be a bool tensor");
    TORCH_CHECK(scores.dim() == 4 && keep.dim() == 2, "scores (B, H, Q, K) and keep (B, K)");
    auto out = torch::empty_like(scores);
    const int keys = scores.size(3);
    const int64_t rows = scores.numel() / keys;
    const int64_t rows_per_batch = scores.size(1) * scores.size(2);
    const size_t bytes = sizeof(float) * keys;
    const auto stream = at::cuda::getCurrentCUDAStream();

    AT_DISPATCH_FLOATING_TYPES_AND_HALF(scores.scalar_type(), "masked_softmax", ([&] {
        if (bytes <= 40 * 1024) {
            masked_softmax_kernel<scalar_t, true><<<rows, THREADS, bytes, stream>>>(
                scores.data_ptr<scalar_t>(), keep.data_ptr<bool>(), out.data_ptr<scalar_t>(), rows_per_batch, keys,
                static_cast<float>(scale));
        } else {
            masked_softmax_kernel<scalar_t, false><<<rows, THREADS, 0, stream>>>(
                scores.data_ptr<scalar_t>(), keep.data_ptr<bool>(), out.data_ptr<scalar_t>(), rows_per_batch, keys,
                static_cast<float>(scale));
        }
    }));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

masked_softmax_cpp = "torch::Tensor masked_softmax(torch::Tensor scores, torch::Tensor keep, double scale);"

masked_softmax = load_inline(
    name="masked_softmax_rows",
    cpp_sources=masked_softmax_cpp,
    cuda_sources=masked_softmax_cuda,
    functions=["masked_softmax"],
    extra_cuda_cflags=["-O3", "--use_fast_math"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, scores, keep):
        return masked_softmax.masked_softmax(scores.contiguous(), keep.contiguous(), self.scale)
