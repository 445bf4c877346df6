# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# Depthwise convolution. Kernel sizes 3, 5 and 7 get a fully unrolled instance, others a generic one (KS = 0).
depthwise_cuda = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

template <int KS>
__global__ void depthwise(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                          float* __restrict__ y, int channels, int h, int wd, int oh, int ow, int k_any, int stride, int pad) {
  const int k = KS > 0 ? KS : k_any;
  const int64_t plane = blockIdx.z;
  const int c = plane % channels;
  const int ox = blockIdx.x * blockDim.x + threadIdx.x;
  const int oy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ox >= ow || oy >= oh) return;

  const float* src = x + plane * h * wd;
  const float* f = w + c * k * k;
  float acc = b ? b[c] : 0.f;
#pragma unroll
  for (int i = 0; i < k; ++i) {
    const int iy = oy * stride + i - pad;
#pragma unroll
    for (int j = 0; j < k; ++j) {
      const int ix = ox * stride + j - pad;
      if (iy >= 0 && iy < h && ix >= 0 && ix < wd) acc = fmaf(__ldg(src + (int64_t)iy * wd + ix), __ldg(f + i * k + j), acc);
    }
  }
  y[(plane * oh + oy) * ow + ox] = acc;
}

torch::Tensor depthwise_conv2d(const torch::Tensor& x_, const torch::Tensor& weight, const c10::optional<torch::Tensor>& bias,
                               int64_t stride, int64_t pad) {
  auto x = x_.contiguous();
  const int n = x.size(0), c = x.size(1), h = x.size(2), w = x.size(3), k = weight.size(2);
  const int oh = (h + 2 * pad - k) / stride + 1, ow = (w + 2 * pad - k) / stride + 1;
  auto y = at::empty({n, c, oh, ow}, x.options());
  const dim3 block(32, 8);
  const float* bp = bias.has_value() ? bias.value().data_ptr<float>() : nullptr;
  auto launch = [&](auto kernel, int64_t first, int64_t planes) {
    const dim3 grid((ow + 31) / 32, (oh + 7) / 8, planes);
    kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>() + first * h * w, weight.data_ptr<float>(), bp, y.data_ptr<float>() + first * oh * ow,
        c, h, w, oh, ow, k, (int)stride, (int)pad);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  };
  // whole samples at a time, because the channel is found from the plane's number
  const int64_t step = std::max<int64_t>(1, 65535 / c) * c;
  for (int64_t first = 0; first < (int64_t)n * c; first += step) {
    const int64_t planes = std::min<int64_t>(step, (int64_t)n * c - first);
    switch (k) {
      case 3: launch(depthwise<3>, first, planes); break;
      case 5: launch(depthwise<5>, first, planes); break;
      case 7: launch(depthwise<7>, first, planes); break;
      default: launch(depthwise<0>, first, planes);
    }
  }
  return y;
}
"""

depthwise_cpp = r"""
torch::Tensor depthwise_conv2d(const torch::Tensor& x_, const torch::Tensor& weight, const c10::optional<torch::Tensor>& bias,
                               int64_t stride, int64_t pad);
"""


def get_extension(_cache={}):
    major, minor = torch.cuda.get_device_capability()
    key = f"sm_{major}{minor}"
    if key not in _cache:
        flags = ["-O3"]
        if major >= 8:
            flags.append("-DFAST_L2=1")
        _cache[key] = load_inline(name=f"depthwise_{key}", cpp_sources=depthwise_cpp, cuda_sources=depthwise_cuda,
                                  functions=["depthwise_conv2d"], extra_cuda_cflags=flags)
    return _cache[key]


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, bias: bool = False):
        super().__init__()
        self.conv2d = nn.Conv2d(in_channels, in_channels, kernel_size, stride=stride, padding=padding, groups=in_channels, bias=bias)
        self.stride = stride
        self.padding = padding

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return get_extension().depthwise_conv2d(x, self.conv2d.weight, self.conv2d.bias, self.stride, self.padding)
