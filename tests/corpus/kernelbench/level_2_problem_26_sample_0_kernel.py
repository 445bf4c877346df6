# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

template <typename scalar_t>
__global__ void add_hardswish_kernel(
    const scalar_t* __restrict__ conv,
    const scalar_t* __restrict__ add,
    scalar_t* __restrict__ out,
    size_t size) {
  const size_t idx = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (idx < size) {
    // v * hardswish(v), hardswish(v) = v * relu6(v + 3) / 6
    const scalar_t v = conv[idx] + add[idx];
    scalar_t gate = v + scalar_t(3);
    gate = gate < scalar_t(0) ? scalar_t(0) : (gate > scalar_t(6) ? scalar_t(6) : gate);
    out[idx] = v * (v * gate / scalar_t(6));
  }
}

torch::Tensor add_hardswish(torch::Tensor conv, torch::Tensor add) {
  TORCH_CHECK(conv.sizes() == add.sizes(), "add_input must have the shape of the convolution's output, got ",
              add.sizes(), " and ", conv.sizes());
  auto a = conv.contiguous();
  auto b = add.contiguous();
  auto out = torch::empty_like(a);
  const size_t size = a.numel();
  const int threads = 512;
  const dim3 blocks((size + threads - 1) / threads);
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "add_hardswish", ([&] {
    add_hardswish_kernel<scalar_t><<<blocks, threads>>>(
        a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), size);
  }));
  return out;
}
"""

ext = load_inline(
    name="add_hardswish_ext",
    cpp_sources=["torch::Tensor add_hardswish(torch::Tensor conv, torch::Tensor add);"],
    cuda_sources=[source],
    functions=["add_hardswish"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, output_padding=output_padding)
        self.bias = nn.Parameter(torch.randn(bias_shape))  # not used by the forward pass

    def forward(self, x, add_input):
        return ext.add_hardswish(self.conv_transpose(x), add_input)
