# SPDX-License-Identifier: MIT
import math

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# NetVLAD. Batch norm and softmax of the assignments are fused (ghost clusters take part in the softmax and
# are then dropped), and so are the residuals and both normalizations.
netvlad_cuda = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cub/block/block_reduce.cuh>

namespace {

constexpr int kStatThreads = 256;

// affine[c] = (scale, shift) of batch norm with the statistics of column c
__global__ void column_affine(const float* __restrict__ a, const float* __restrict__ gamma, const float* __restrict__ beta,
                              float2* __restrict__ affine, int64_t rows, int cols, double eps) {
  using Reduce = cub::BlockReduce<double, kStatThreads>;
  __shared__ typename Reduce::TempStorage first, second;
  const int c = blockIdx.x;
  double s = 0.0, q = 0.0;
  for (int64_t r = threadIdx.x; r < rows; r += kStatThreads) {
    const double v = a[r * cols + c];
    s += v;
    q += v * v;
  }
  s = Reduce(first).Sum(s);
  q = Reduce(second).Sum(q);
  if (threadIdx.x == 0) {
    const double mean = s / rows, var = q / rows - mean * mean;
    const double scale = gamma[c] / sqrt((var > 0.0 ? var : 0.0) + eps);
    affine[c] = make_float2((float)scale, (float)(beta[c] - mean * scale));
  }
}

// a warp per descriptor
__global__ void assign(const float* __restrict__ a, const float2* __restrict__ affine, float* __restrict__ out,
                       int64_t rows, int cols, int kept) {
  const int64_t r = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
  if (r >= rows) return;
  const float* row = a + r * cols;
  auto logit = [&](int c) { return row[c] * affine[c].x + affine[c].y; };
  float m = -INFINITY, s = 0.f;
  for (int c = threadIdx.x; c < cols; c += 32) m = fmaxf(m, logit(c));
  for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, o));
  for (int c = threadIdx.x; c < cols; c += 32) s += expf(logit(c) - m);
  for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffff, s, o);
  for (int c = threadIdx.x; c < kept; c += 32) out[r * kept + c] = expf(logit(c) - m) / s;
}

// One block per image: vlad is [K, D]; subtract the weighted centres, normalize every cluster, then everything.
__global__ void residual_normalize(float* __restrict__ vlad, const float* __restrict__ assignment,
                                   const float* __restrict__ centres, float* __restrict__ out, int samples, int K, int D) {
  __shared__ float warp_square[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* v = vlad + (int64_t)blockIdx.x * K * D;
  const float* a = assignment + (int64_t)blockIdx.x * samples * K;

  float square = 0.f;                           // of this warp's clusters, after their own normalization
  for (int k = warp; k < K; k += 8) {
    float mass = 0.f;
    for (int n = lane; n < samples; n += 32) mass += a[(int64_t)n * K + k];
    for (int o = 16; o > 0; o >>= 1) mass += __shfl_xor_sync(0xffffffff, mass, o);
    float q = 0.f;
    for (int d = lane; d < D; d += 32) {
      const float r = v[(int64_t)k * D + d] - mass * centres[(int64_t)d * K + k];
      v[(int64_t)k * D + d] = r;
      q += r * r;
    }
    for (int o = 16; o > 0; o >>= 1) q += __shfl_xor_sync(0xffffffff, q, o);
    const float norm = fmaxf(sqrtf(q), 1e-12f);
    for (int d = lane; d < D; d += 32) v[(int64_t)k * D + d] /= norm;
    square += q / (norm * norm);
  }
  if (lane == 0) warp_square[warp] = square;
  __syncthreads();
  float total = 0.f;
  for (int w = 0; w < 8; ++w) total += warp_square[w];
  const float inverse = 1.f / fmaxf(sqrtf(total), 1e-12f);
  // the result is laid out with the clusters fastest
  for (int i = threadIdx.x; i < K * D; i += blockDim.x) out[(int64_t)blockIdx.x * K * D + i] = v[(int64_t)(i % K) * D + i / K] * inverse;
}

}  // namespace

torch::Tensor netvlad(torch::Tensor x, torch::Tensor clusters, torch::Tensor centres, torch::Tensor gamma, torch::Tensor beta,
                      double eps) {
  x = x.contiguous();
  const int64_t batch = x.size(0), samples = x.size(1), D = x.size(2), K = centres.size(2), cols = clusters.size(1);
  const int64_t rows = batch * samples;
  auto stream = at::cuda::getCurrentCUDAStream();
  auto logits = at::mm(x.view({rows, D}), clusters);
  auto affine = torch::empty({cols, 2}, x.options());
  auto assignment = torch::empty({batch, samples, K}, x.options());
  auto pairs = reinterpret_cast<float2*>(affine.data_ptr<float>());
  column_affine<<<cols, kStatThreads, 0, stream>>>(logits.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), pairs, rows, cols, eps);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  assign<<<(rows + 7) / 8, dim3(32, 8), 0, stream>>>(logits.data_ptr<float>(), pairs, assignment.data_ptr<float>(), rows, cols, K);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  auto vlad = at::bmm(assignment.transpose(1, 2), x).contiguous();
  auto out = torch::empty({batch, D * K}, x.options());
  residual_normalize<<<batch, 256, 0, stream>>>(vlad.data_ptr<float>(), assignment.data_ptr<float>(), centres.contiguous().data_ptr<float>(),
                                                out.data_ptr<float>(), samples, K, D);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""

netvlad_cpp = """
torch::Tensor netvlad(torch::Tensor x, torch::Tensor clusters, torch::Tensor centres, torch::Tensor gamma, torch::Tensor beta,
                      double eps);
"""

netvlad_ext = load_inline(name="netvlad_fused", cpp_sources=netvlad_cpp, cuda_sources=netvlad_cuda, functions=["netvlad"])


class ModelNew(nn.Module):
    def __init__(self, cluster_size, feature_size, ghost_clusters):
        super().__init__()
        self.cluster_size = cluster_size
        self.feature_size = feature_size
        self.ghost_clusters = ghost_clusters
        scale = 1 / math.sqrt(feature_size)
        total = cluster_size + ghost_clusters
        self.clusters = nn.Parameter(scale * torch.randn(feature_size, total))
        self.batch_norm = nn.BatchNorm1d(total)
        self.clusters2 = nn.Parameter(scale * torch.randn(1, feature_size, cluster_size))
        self.out_dim = cluster_size * feature_size

    @torch.no_grad()
    def forward(self, x, mask=None):
        bn = self.batch_norm
        return netvlad_ext.netvlad(x, self.clusters, self.clusters2, bn.weight, bn.bias, bn.eps)
