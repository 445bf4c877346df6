# SPDX-License-Identifier: MIT
"""Soft-capped swish, fused into one pass over memory.

The op is bandwidth bound: one read and one write per element. So: 128-bit accesses, a grid that is
just large enough to fill the device, and a scalar loop for whatever is left over at the end.
"""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_src = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <algorithm>
#include <cstdint>

namespace {

struct CappedSwish {
  float alpha;
  float cap;
  float inv_cap;

  __device__ __forceinline__ float operator()(float v) const {
    const float g = v / (1.0f + __expf(-alpha * v));
    // tanh(z) = 1 - 2 / (exp(2z) + 1): saturates to +-1 without overflow problems.
    return cap * (1.0f - 2.0f / (__expf(2.0f * g * inv_cap) + 1.0f));
  }
};

template <typename Op>
__global__ void __launch_bounds__(256)
map_vec4(const float* __restrict__ in, float* __restrict__ out, int64_t n4, int64_t n, Op op) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const float4* in4 = reinterpret_cast<const float4*>(in);
  float4* out4 = reinterpret_cast<float4*>(out);
  for (int64_t i = first; i < n4; i += stride) {
    float4 v = __ldg(in4 + i);
    v.x = op(v.x);
    v.y = op(v.y);
    v.z = op(v.z);
    v.w = op(v.w);
    out4[i] = v;
  }
  for (int64_t i = 4 * n4 + first; i < n; i += stride) out[i] = op(in[i]);
}

}  // namespace

torch::Tensor capped_swish(const torch::Tensor& input, double alpha, double cap) {
  TORCH_CHECK(input.is_cuda(), "input must live on the GPU");
  TORCH_CHECK(input.scalar_type() == at::kFloat, "float32 only");
  auto x = input.contiguous();
  auto y = at::empty_like(x);
  const int64_t n = x.numel();
  if (n == 0) return y;

  const float* src = x.data_ptr<float>();
  const bool aligned = reinterpret_cast<uintptr_t>(src) % 16 == 0;
  const int64_t n4 = aligned ? n / 4 : 0;

  const int sms = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  const int64_t wanted = ((aligned ? n / 4 : n) + 255) / 256;
  const int blocks = (int)std::max<int64_t>(1, std::min<int64_t>(wanted, (int64_t)sms * 8));

  CappedSwish op{(float)alpha, (float)cap, (float)(1.0 / cap)};
  map_vec4<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(src, y.data_ptr<float>(), n4, n, op);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""

_ext = load_inline(
    name="capped_swish_vec4",
    cpp_sources=["torch::Tensor capped_swish(const torch::Tensor& input, double alpha, double cap);"],
    cuda_sources=[cuda_src],
    functions=["capped_swish"],
    extra_cuda_cflags=["-O3"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, cap: float):
        super().__init__()
        self.cap = float(cap)

    def forward(self, x: torch.Tensor, alpha: float) -> torch.Tensor:
        return _ext.capped_swish(x, float(alpha), self.cap)
