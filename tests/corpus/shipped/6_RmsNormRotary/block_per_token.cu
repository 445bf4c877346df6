// SPDX-License-Identifier: MIT
// RMS norm of every head and rotary embedding, a block per token: cosines and sines of the token's
// position are gathered once into shared memory and serve all heads.
#include <torch/all.h>
#include <torch/extension.h>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>

namespace cg = cooperative_groups;

namespace {

// The one init argument that does not come with the state.
constexpr float kEps = 1e-6f;
constexpr int kThreads = 128;
constexpr int kTile = 16;  // threads per head

struct Angles {
  float c, s;
};

__device__ inline Angles* angle_storage() {
  extern __shared__ Angles angles[];
  return angles;
}

__global__ void norm_and_turn(const __nv_bfloat16* __restrict__ x, const long* __restrict__ positions,
                              const __nv_bfloat16* __restrict__ weight, const float* __restrict__ cosines,
                              const float* __restrict__ sines, __nv_bfloat16* __restrict__ y, int heads, int dim) {
  Angles* angles = angle_storage();
  const int half = dim / 2;
  const long token = blockIdx.x;
  const long position = positions[token];
  for (int i = threadIdx.x; i < half; i += kThreads) {
    angles[i] = Angles{cosines[position * half + i], sines[position * half + i]};
  }
  __syncthreads();

  const auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
  for (int head = tile.meta_group_rank(); head < heads; head += kThreads / kTile) {
    const __nv_bfloat16* in = x + (token * heads + head) * dim;
    __nv_bfloat16* out = y + (token * heads + head) * dim;

    float sum = 0.f;
    for (int i = tile.thread_rank(); i < dim; i += kTile) {
      const float v = __bfloat162float(in[i]);
      sum = fmaf(v, v, sum);
    }
    sum = cg::reduce(tile, sum, cg::plus<float>());
    const float r = rsqrtf(sum / static_cast<float>(dim) + kEps);

    for (int i = tile.thread_rank(); i < half; i += kTile) {
      const float first = __bfloat162float(in[i]) * r * __bfloat162float(weight[i]);
      const float second = __bfloat162float(in[half + i]) * r * __bfloat162float(weight[half + i]);
      const Angles a = angles[i];
      out[i] = __float2bfloat16_rn(first * a.c - second * a.s);
      out[half + i] = __float2bfloat16_rn(second * a.c + first * a.s);
    }
  }
}

}  // namespace

torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& positions, const torch::Tensor& weight,
                      const torch::Tensor& cos, const torch::Tensor& sin) {
  TORCH_CHECK(x.scalar_type() == torch::kBFloat16, "bfloat16 activations expected");
  TORCH_CHECK(positions.scalar_type() == torch::kInt64, "int64 positions expected");
  TORCH_CHECK(x.is_contiguous() && positions.is_contiguous() && cos.is_contiguous() && sin.is_contiguous());
  const int heads = x.size(2), dim = x.size(3);
  const unsigned tokens = x.size(0) * x.size(1);
  auto y = torch::empty_like(x);
  const size_t bytes = dim / 2 * sizeof(Angles);
  norm_and_turn<<<tokens, kThreads, bytes, at::cuda::getCurrentCUDAStream()>>>(
      static_cast<const __nv_bfloat16*>(x.data_ptr()), reinterpret_cast<const long*>(positions.data_ptr<int64_t>()),
      static_cast<const __nv_bfloat16*>(weight.data_ptr()), cos.data_ptr<float>(), sin.data_ptr<float>(),
      static_cast<__nv_bfloat16*>(y.data_ptr()), heads, dim);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
