# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# argmax over the middle dimension of (batch, dim, inner).
# Value and position go into one 64-bit word whose order is "larger value, then smaller position",
# so an atomicMax over the words is an argmax, and slices of `dim` can be worked on independently.
source = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

typedef unsigned long long word_t;

__device__ __forceinline__ word_t pack(float value, unsigned int position) {
    unsigned int bits = __float_as_uint(value + 0.0f);   // -0 becomes +0
    bits = (bits & 0x80000000u) ? ~bits : (bits | 0x80000000u);
    return ((word_t)bits << 32) | (0xffffffffu - position);
}

__global__ void argmax_slices(const float* __restrict__ x, word_t* __restrict__ best,
                              long long columns, int dim, int inner, int slice) {
    const long long column = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    const long long batch = column / inner;
    const float* src = x + batch * dim * inner + column % inner;

    const int begin = blockIdx.y * slice;
    const int end = min(begin + slice, dim);
    word_t mine = 0;
    for (int d = begin; d < end; ++d) {
        const word_t w = pack(src[(long long)d * inner], d);
        mine = w > mine ? w : mine;
    }
    atomicMax(best + column, mine);
}

__global__ void unpack(const word_t* __restrict__ best, long* __restrict__ out, long long columns) {
    const long long column = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) out[column] = 0xffffffffu - (unsigned int)(best[column] & 0xffffffffu);
}

torch::Tensor argmax_mid(torch::Tensor x) {
    TORCH_CHECK(x.dim() == 3, "expected a 3D tensor");
    TORCH_CHECK(x.is_contiguous(), "expected a contiguous tensor");
    const long long batch = x.size(0), dim = x.size(1), inner = x.size(2);
    const long long columns = batch * inner;
    cudaStream_t stream = at::cuda::getCurrentCUDAStream().stream();

    auto out = torch::empty({batch, inner}, x.options().dtype(torch::kLong));
    auto words = torch::empty({columns}, x.options().dtype(torch::kLong));
    word_t* best = reinterpret_cast<word_t*>(words.data_ptr<int64_t>());
    C10_CUDA_CHECK(cudaMemsetAsync(best, 0, sizeof(word_t) * columns, stream));

    const int slice = 256;
    const unsigned int blocks = (columns + 127) / 128;
    argmax_slices<<<dim3(blocks, (dim + slice - 1) / slice), 128, 0, stream>>>(
        x.data_ptr<float>(), best, columns, (int)dim, (int)inner, slice);
    unpack<<<blocks, 128, 0, stream>>>(best, (long*)out.data_ptr<int64_t>(), columns);
    C10_CUDA_CHECK(cudaGetLastError());
    return out;
}
"""

argmax_ext = load_inline(
    name="argmax_packed",
    cpp_sources="torch::Tensor argmax_mid(torch::Tensor x);",
    cuda_sources=source,
    functions=["argmax_mid"],
    extra_cuda_cflags=["-O3"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.argmax = argmax_ext.argmax_mid

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.argmax(x.contiguous())
