# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# 64x64 output tile per block, 16 deep, each of the 256 threads owns a 4x4 patch.
_cuda = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

namespace {

constexpr int BM = 64, BN = 64, BK = 16;
constexpr int TM = 4, TN = 4;
constexpr int THREADS = (BM / TM) * (BN / TN);

using Acc3 = torch::PackedTensorAccessor32<float, 3, torch::RestrictPtrTraits>;

__global__ __launch_bounds__(THREADS)
void bmm_kernel(const Acc3 a, const Acc3 b, Acc3 c) {
  __shared__ float sa[BK][BM + 4];
  __shared__ float sb[BK][BN];

  const int M = a.size(1), K = a.size(2), N = b.size(2);
  const int batch = blockIdx.z;
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  const int tid = threadIdx.x;
  const int tm = (tid / (BN / TN)) * TM;
  const int tn = (tid % (BN / TN)) * TN;

  float acc[TM][TN] = {};

  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = tid; i < BM * BK; i += THREADS) {
      const int m = i / BK, k = i % BK;
      sa[k][m] = (m0 + m < M && k0 + k < K) ? a[batch][m0 + m][k0 + k] : 0.f;
    }
    for (int i = tid; i < BK * BN; i += THREADS) {
      const int k = i / BN, n = i % BN;
      sb[k][n] = (k0 + k < K && n0 + n < N) ? b[batch][k0 + k][n0 + n] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float ra[TM], rb[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) ra[i] = sa[k][tm + i];
#pragma unroll
      for (int j = 0; j < TN; ++j) rb[j] = sb[k][tn + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] = fmaf(ra[i], rb[j], acc[i][j]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      if (m0 + tm + i < M && n0 + tn + j < N) c[batch][m0 + tm + i][n0 + tn + j] = acc[i][j];
}

}  // namespace

torch::Tensor bmm(const torch::Tensor& a, const torch::Tensor& b) {
  TORCH_CHECK(a.dim() == 3 && b.dim() == 3, "expected two 3-d tensors");
  TORCH_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1), "shape mismatch");
  TORCH_CHECK(a.scalar_type() == torch::kFloat32 && b.scalar_type() == torch::kFloat32, "float32 only");
  auto c = torch::empty({a.size(0), a.size(1), b.size(2)}, a.options());
  const dim3 grid((b.size(2) + BN - 1) / BN, (a.size(1) + BM - 1) / BM, a.size(0));
  bmm_kernel<<<grid, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
      a.packed_accessor32<float, 3, torch::RestrictPtrTraits>(),
      b.packed_accessor32<float, 3, torch::RestrictPtrTraits>(),
      c.packed_accessor32<float, 3, torch::RestrictPtrTraits>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return c;
}
'''

_ext = load_inline(
    name="bmm_64x64x16",
    cpp_sources=["torch::Tensor bmm(const torch::Tensor& a, const torch::Tensor& b);"],
    cuda_sources=[_cuda],
    functions={"bmm": "Batched matrix product"},
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    """The accessors carry strides, so the inputs do not have to be contiguous."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return _ext.bmm(A, B)
