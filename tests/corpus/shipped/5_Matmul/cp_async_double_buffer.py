# SPDX-License-Identifier: MIT
"""SGEMM: 64x64 block tiles, 4x4 results per thread, operands streamed by cp.async two slices ahead.

cp.async with a source size of zero fills with zeros, which takes care of all edges: no separate
kernels for ragged shapes, and no branches around the copies.
"""
import functools

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

namespace sgemm {

constexpr int BM = 64, BN = 64, BK = 16;
constexpr int THREADS = 256;
constexpr int STAGES = 2;

// Four bytes from global to shared memory without a register in between; zero where !valid.
__device__ __forceinline__ void copy_async(float* to, const float* from, bool valid) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const int bytes = valid ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(address), "l"(from), "r"(bytes));
}

__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;\n" ::); }

template <int kLeft>
__device__ __forceinline__ void copy_wait() {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(kLeft));
}

struct Slice {
    float a[BK][BM + 4];  // transposed, so that a thread's four rows are neighbours
    float b[BK][BN];
};

__device__ __forceinline__ void fetch(Slice& s, const float* __restrict__ A, const float* __restrict__ B,
                                      int m0, int n0, int k0, int M, int N, int K) {
#pragma unroll
    for (int part = 0; part < BM * BK / THREADS; ++part) {
        const int i = threadIdx.x + part * THREADS;
        const int row = i / BK, k = i % BK;
        const bool valid = m0 + row < M && k0 + k < K;
        copy_async(&s.a[k][row], valid ? A + (size_t)(m0 + row) * K + k0 + k : A, valid);
    }
#pragma unroll
    for (int part = 0; part < BN * BK / THREADS; ++part) {
        const int i = threadIdx.x + part * THREADS;
        const int k = i / BN, col = i % BN;
        const bool valid = k0 + k < K && n0 + col < N;
        copy_async(&s.b[k][col], valid ? B + (size_t)(k0 + k) * N + n0 + col : B, valid);
    }
}

__global__ void __launch_bounds__(THREADS)
kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
    __shared__ Slice slices[STAGES];
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float acc[4][4] = {};

    const int steps = (K + BK - 1) / BK;
    if (steps > 0) fetch(slices[0], A, B, m0, n0, 0, M, N, K);
    copy_commit();
    for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps) fetch(slices[(step + 1) % STAGES], A, B, m0, n0, (step + 1) * BK, M, N, K);
        copy_commit();      // possibly empty, so that the count below is always right
        copy_wait<1>();
        __syncthreads();

        const Slice& s = slices[step % STAGES];
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float ra[4], rb[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                ra[i] = s.a[k][ty * 4 + i];
                rb[i] = s.b[k][tx + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] = fmaf(ra[i], rb[j], acc[i][j]);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = m0 + ty * 4 + i;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int col = n0 + tx + 16 * j;
            if (row < M && col < N) C[(size_t)row * N + col] = acc[i][j];
        }
    }
}

}  // namespace sgemm

torch::Tensor sgemm_forward(torch::Tensor a, torch::Tensor b) {
    const c10::cuda::CUDAGuard device_guard(a.device());
    TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0), "shapes do not fit");
    const int M = a.size(0), K = a.size(1), N = b.size(1);
    auto c = a.new_empty({M, N});
    const dim3 grid((N + sgemm::BN - 1) / sgemm::BN, (M + sgemm::BM - 1) / sgemm::BM);
    sgemm::kernel<<<grid, sgemm::THREADS, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), M, N, K);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return c;
}
"""


@functools.lru_cache(maxsize=None)
def sgemm():
    return load_inline(
        name="sgemm_cp_async",
        cpp_sources=["torch::Tensor sgemm_forward(torch::Tensor a, torch::Tensor b);"],
        cuda_sources=[CUDA],
        functions=["sgemm_forward"],
        extra_cuda_cflags=["-O3", "-lineinfo"],
    )


class ModelNew(nn.Module):
    def forward(self, a, b):
        return sgemm().sgemm_forward(a.contiguous(), b.contiguous())
