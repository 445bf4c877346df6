# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# The pointwise tail is a chain of functors, put together at compile time.
chain_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <type_traits>

namespace ops {
struct Swish { __device__ float operator()(float v) const { return v / (1.f + expf(-v)); } };
struct Tanh  { __device__ float operator()(float v) const { return tanhf(v); } };
struct Times { float factor; __device__ float operator()(float v) const { return v * factor; } };
struct Clamp { float lo, hi; __device__ float operator()(float v) const { return fminf(fmaxf(v, lo), hi); } };

template <class First, class... Rest>
struct Chain {
  First first;
  Chain<Rest...> rest;
  __host__ __device__ Chain(First f, Rest... r) : first(f), rest(r...) {}
  __device__ float operator()(float v) const { return rest(first(v)); }
};

template <class Only>
struct Chain<Only> {
  Only only;
  __host__ __device__ Chain(Only o) : only(o) {}
  __device__ float operator()(float v) const { return only(v); }
};

template <class... F>
Chain<F...> chain(F... f) { return Chain<F...>(f...); }
}  // namespace ops

template <int ITEMS, class Op>
__global__ void transform(float* __restrict__ data, int64_t n, const Op op) {
  const int64_t first = (int64_t)blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int64_t at = first + (int64_t)i * blockDim.x;
    if (at < n) data[at] = op(data[at]);
  }
}

template <class Op>
void run(torch::Tensor& t, const Op& op) {
  static_assert(std::is_trivially_copyable<Op>::value, "kernel arguments are copied as bytes");
  constexpr int items = 4, threads = 128;
  const int64_t n = t.numel();
  const int64_t blocks = (n + items * threads - 1) / (items * threads);
  transform<items><<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(t.data_ptr<float>(), n, op);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

torch::Tensor tail(torch::Tensor h) {
  h = h.contiguous();
  run(h, ops::chain(ops::Swish{}, ops::Times{0.5f}, ops::Clamp{-1.f, 1.f}, ops::Tanh{}, ops::Clamp{-1.f, 1.f}));
  return h;
}
"""

tail_ext = load_inline(
    name="pointwise_chain",
    cpp_sources="torch::Tensor tail(torch::Tensor h);",
    cuda_sources=chain_source,
    functions={"tail": "swish / 2, clamp, tanh, clamp; in place"},
    extra_cuda_cflags=["-O3", "-std=c++17"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=bias)

    def forward(self, x):
        return tail_ext.tail(self.gemm(x))
