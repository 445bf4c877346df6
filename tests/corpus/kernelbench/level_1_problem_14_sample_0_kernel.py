# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# C[i][j] = sum_{k=i}^{j} A[i][k] * B[k][j] for upper triangular A and B, so a block of the
# output below the diagonal is zero and the others only need the slabs of k between
# their first row and their last column.

triu_cuda_source = """
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

constexpr int TS = 16;

__global__ void triu_matmul_kernel(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C,
    const int n)
{
    __shared__ float a_s[TS][TS + 1];
    __shared__ float b_s[TS][TS + 1];

    const int row0 = blockIdx.y * TS;
    const int col0 = blockIdx.x * TS;
    const int row = row0 + threadIdx.y;
    const int col = col0 + threadIdx.x;

    if (col0 + TS <= row0) {
        if (row < n && col < n) C[row * n + col] = 0.f;
        return;   // whole block leaves together
    }

    float acc = 0.f;
    const int k_end = min(n, col0 + TS);
    for (int k0 = row0; k0 < k_end; k0 += TS) {
        int ka = k0 + threadIdx.x;
        int kb = k0 + threadIdx.y;
        a_s[threadIdx.y][threadIdx.x] = (row < n && ka < n && ka >= row) ? A[row * n + ka] : 0.f;
        b_s[threadIdx.y][threadIdx.x] = (kb < n && col < n && kb <= col) ? B[kb * n + col] : 0.f;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < TS; ++k)
            acc += a_s[threadIdx.y][k] * b_s[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n)
        C[row * n + col] = (col >= row) ? acc : 0.f;
}

torch::Tensor triu_matmul(torch::Tensor A, torch::Tensor B) {
    CHECK_INPUT(A);
    CHECK_INPUT(B);
    const int n = A.size(0);
    auto C = torch::empty_like(A);
    const dim3 block(TS, TS);
    const dim3 grid((n + TS - 1) / TS, (n + TS - 1) / TS);
    triu_matmul_kernel<<<grid, block>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), n);
    cudaError_t err = cudaGetLastError();
    TORCH_CHECK(err == cudaSuccess, "launch failed: ", cudaGetErrorString(err));
    return C;
}
"""

triu_mm = load_inline(
    name="triu_mm",
    cpp_sources="torch::Tensor triu_matmul(torch::Tensor A, torch::Tensor B);",
    cuda_sources=triu_cuda_source,
    functions=["triu_matmul"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self):
        super(ModelNew, self).__init__()

    def forward(self, A, B):
        return triu_mm.triu_matmul(A.contiguous(), B.contiguous())
