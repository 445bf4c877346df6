# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>
#include <ATen/cuda/CUDAContext.h>

// One block per row: the matrix has few rows but very long ones, so all the
// parallelism has to come from inside the row.
template <int BLOCK, bool VEC>
__global__ void gemv_rows(const float* __restrict__ mat, const float* __restrict__ vec,
                          float* __restrict__ out, int64_t cols) {
    const float* row = mat + (int64_t)blockIdx.x * cols;
    float acc = 0.f;
    if (VEC) {
        const float4* r4 = reinterpret_cast<const float4*>(row);
        const float4* v4 = reinterpret_cast<const float4*>(vec);
        for (int64_t i = threadIdx.x; i < cols / 4; i += BLOCK) {
            float4 p = r4[i];
            float4 q = __ldg(v4 + i);
            acc += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
        }
    } else {
        for (int64_t i = threadIdx.x; i < cols; i += BLOCK) acc += row[i] * __ldg(vec + i);
    }

    // warp level first, then the first warp adds up what the others found
    for (int offset = 16; offset > 0; offset >>= 1)
        acc += __shfl_down_sync(0xffffffff, acc, offset);
    __shared__ float partial[BLOCK / 32];
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = acc;
    __syncthreads();
    if (threadIdx.x < 32) {
        acc = threadIdx.x < BLOCK / 32 ? partial[threadIdx.x] : 0.f;
        for (int offset = 16; offset > 0; offset >>= 1)
            acc += __shfl_down_sync(0xffffffff, acc, offset);
        if (threadIdx.x == 0) out[blockIdx.x] = acc;
    }
}

torch::Tensor gemv(torch::Tensor mat, torch::Tensor vec) {
    TORCH_CHECK(mat.is_cuda() && vec.is_cuda(), "inputs must live on the GPU");
    TORCH_CHECK(vec.size(0) == mat.size(1) && vec.size(1) == 1, "B must be a column of length K");
    const at::cuda::OptionalCUDAGuard guard(mat.device());
    mat = mat.contiguous();
    vec = vec.contiguous();
    const int64_t rows = mat.size(0), cols = mat.size(1);
    torch::Tensor out = torch::empty({rows, 1}, mat.options());
    auto stream = at::cuda::getCurrentCUDAStream();
    if (cols % 4 == 0)
        gemv_rows<512, true><<<rows, 512, 0, stream>>>(mat.data_ptr<float>(), vec.data_ptr<float>(), out.data_ptr<float>(), cols);
    else
        gemv_rows<512, false><<<rows, 512, 0, stream>>>(mat.data_ptr<float>(), vec.data_ptr<float>(), out.data_ptr<float>(), cols);
    return out;
}
"""

gemv_module = load_inline(
    name="gemv_long_rows",
    cpp_sources="torch::Tensor gemv(torch::Tensor mat, torch::Tensor vec);",
    cuda_sources=source,
    functions=["gemv"],
    verbose=False,
    extra_cuda_cflags=["-O3", "--use_fast_math"],
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return gemv_module.gemv(A, B)
