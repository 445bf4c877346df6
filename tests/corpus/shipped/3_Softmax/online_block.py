# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <cooperative_groups.h>
#include <ATen/cuda/CUDAContext.h>

namespace cg = cooperative_groups;

// Running maximum and sum of exponentials relative to that maximum.
struct MaxSum {
    float m;
    float s;
};

__host__ __device__ __forceinline__ MaxSum merge(MaxSum a, MaxSum b) {
    MaxSum r;
    r.m = a.m > b.m ? a.m : b.m;
    // -inf - -inf would be NaN: an empty side contributes nothing.
    float sa = a.s == 0.0f ? 0.0f : a.s * expf(a.m - r.m);
    float sb = b.s == 0.0f ? 0.0f : b.s * expf(b.m - r.m);
    r.s = sa + sb;
    return r;
}

__global__ void softmax_online(const float* __restrict__ in, float* __restrict__ out, int64_t cols) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ MaxSum per_warp[32];

    const float* src = in + (int64_t)blockIdx.x * cols;
    float* dst = out + (int64_t)blockIdx.x * cols;

    MaxSum mine = {-INFINITY, 0.0f};
    for (int64_t c = block.thread_rank(); c < cols; c += block.size()) {
        const float v = src[c];
        if (v == -INFINITY) continue;
        if (v > mine.m) {
            mine.s = mine.s * expf(mine.m - v) + 1.0f;
            mine.m = v;
        } else {
            mine.s += expf(v - mine.m);
        }
    }

    for (int offset = warp.size() / 2; offset > 0; offset /= 2) {
        MaxSum other;
        other.m = warp.shfl_xor(mine.m, offset);
        other.s = warp.shfl_xor(mine.s, offset);
        mine = merge(mine, other);
    }
    if (warp.thread_rank() == 0) per_warp[warp.meta_group_rank()] = mine;
    block.sync();

    // Every thread merges the warps' results by itself: few of them, and no second barrier.
    MaxSum row = per_warp[0];
    for (int w = 1; w < warp.meta_group_size(); ++w) row = merge(row, per_warp[w]);

    const float scale = 1.0f / row.s;
    for (int64_t c = block.thread_rank(); c < cols; c += block.size()) {
        dst[c] = expf(src[c] - row.m) * scale;
    }
}

torch::Tensor softmax_cuda(torch::Tensor scores) {
    auto input = scores.contiguous();
    auto output = torch::empty_like(input);
    const int64_t cols = input.size(-1);
    const int64_t rows = input.numel() / cols;
    const int threads = cols >= 4096 ? 512 : 128;
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    softmax_online<<<rows, threads, 0, stream>>>(input.data_ptr<float>(), output.data_ptr<float>(), cols);
    return output;
}
"""

cpp_source = """
#include <torch/extension.h>

torch::Tensor softmax_cuda(torch::Tensor scores);

torch::Tensor softmax_forward(torch::Tensor scores) {
    TORCH_CHECK(scores.is_cuda(), "scores must be a CUDA tensor");
    TORCH_CHECK(scores.dtype() == torch::kFloat32, "scores must be float32");
    return softmax_cuda(scores);
}
"""


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.ext = load_inline(
            name="online_softmax",
            cpp_sources=cpp_source,
            cuda_sources=cuda_source,
            functions=["softmax_forward"],
            extra_cuda_cflags=["-O3"],
            verbose=False,
        )

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return self.ext.softmax_forward(scores)
