# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

conv_cpp = """
torch::Tensor conv2d_forward(torch::Tensor input, torch::Tensor weight, c10::optional<torch::Tensor> bias,
                             int64_t stride, int64_t padding);
"""

conv_cuda = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

struct ConvShape {
  int n, c_in, h_in, w_in;
  int c_out, h_out, w_out;
  int kernel, stride, pad;
};

constexpr int kChannelsPerThread = 4;

// One thread computes the same pixel of four output channels: every input value is loaded once for
// four products. K = 0 stands for a kernel size that is known at run time only.
template <int K>
__global__ void conv2d_direct(const float* __restrict__ input, const float* __restrict__ weight,
                              const float* __restrict__ bias, float* __restrict__ output, const ConvShape s) {
  const int kernel = K > 0 ? K : s.kernel;
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= s.h_out * s.w_out) return;
  const int oy = pixel / s.w_out, ox = pixel % s.w_out;
  const int oc0 = blockIdx.y * kChannelsPerThread;
  const int n = blockIdx.z;
  const int weights_per_channel = s.c_in * kernel * kernel;

  float acc[kChannelsPerThread];
#pragma unroll
  for (int q = 0; q < kChannelsPerThread; ++q) {
    const int oc = oc0 + q;
    acc[q] = (bias != nullptr && oc < s.c_out) ? bias[oc] : 0.0f;
  }

  const float* image = input + (int64_t)n * s.c_in * s.h_in * s.w_in;
  const int y0 = oy * s.stride - s.pad, x0 = ox * s.stride - s.pad;
  for (int ic = 0; ic < s.c_in; ++ic) {
    const float* plane = image + (int64_t)ic * s.h_in * s.w_in;
#pragma unroll
    for (int ky = 0; ky < kernel; ++ky) {
      const int y = y0 + ky;
      if (y < 0 || y >= s.h_in) continue;
#pragma unroll
      for (int kx = 0; kx < kernel; ++kx) {
        const int x = x0 + kx;
        if (x < 0 || x >= s.w_in) continue;
        const float v = plane[y * s.w_in + x];
        const int tap = (ic * kernel + ky) * kernel + kx;
#pragma unroll
        for (int q = 0; q < kChannelsPerThread; ++q) {
          const int oc = min(oc0 + q, s.c_out - 1);
          acc[q] += v * __ldg(weight + oc * weights_per_channel + tap);
        }
      }
    }
  }

#pragma unroll
  for (int q = 0; q < kChannelsPerThread; ++q) {
    if (oc0 + q < s.c_out)
      output[((int64_t)n * s.c_out + oc0 + q) * s.h_out * s.w_out + pixel] = acc[q];
  }
}

torch::Tensor conv2d_forward(torch::Tensor input, torch::Tensor weight, c10::optional<torch::Tensor> bias,
                             int64_t stride, int64_t padding) {
  TORCH_CHECK(input.dim() == 4, "input must be NCHW");
  TORCH_CHECK(input.size(1) == weight.size(1), "channels do not match");
  ConvShape s;
  s.n = input.size(0);
  s.c_in = input.size(1);
  s.h_in = input.size(2);
  s.w_in = input.size(3);
  s.c_out = weight.size(0);
  s.kernel = weight.size(2);
  s.stride = stride;
  s.pad = padding;
  s.h_out = (s.h_in + 2 * s.pad - s.kernel) / s.stride + 1;
  s.w_out = (s.w_in + 2 * s.pad - s.kernel) / s.stride + 1;

  auto output = torch::empty({s.n, s.c_out, s.h_out, s.w_out}, input.options());
  const float* bias_ptr = bias.has_value() ? bias.value().data_ptr<float>() : nullptr;

  const int threads = 128;
  const dim3 grid((s.h_out * s.w_out + threads - 1) / threads,
                  (s.c_out + kChannelsPerThread - 1) / kChannelsPerThread, s.n);
  auto stream = at::cuda::getCurrentCUDAStream();
#define LAUNCH(K)                                                                             \
  conv2d_direct<K><<<grid, threads, 0, stream>>>(input.data_ptr<float>(), weight.data_ptr<float>(), \
                                                 bias_ptr, output.data_ptr<float>(), s)
  switch (s.kernel) {
    case 1: LAUNCH(1); break;
    case 3: LAUNCH(3); break;
    case 5: LAUNCH(5); break;
    default: LAUNCH(0);
  }
#undef LAUNCH
  return output;
}
"""

conv_module = load_inline(
    name="conv2d_direct",
    cpp_sources=conv_cpp,
    cuda_sources=conv_cuda,
    functions=["conv2d_forward"],
    extra_cuda_cflags=["-O3", "--use_fast_math"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, channels_in: int, channels_out: int, kernel: int, stride: int, padding: int):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel, stride=stride, padding=padding)
        self.stride = stride
        self.padding = padding

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return conv_module.conv2d_forward(
            images.contiguous(), self.conv.weight, self.conv.bias, self.stride, self.padding
        )
