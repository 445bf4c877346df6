# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# The mean goes over the channels, which are H*W elements apart. With one thread per pixel
# neighbouring threads read neighbouring addresses, so no shared memory is needed.
rms_src = '''
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

template <typename T>
__global__ void rms_norm_channels(const T *x, T *y, int64_t batch, int64_t channels, int64_t inner, float eps)
{
  int64_t idx = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (idx >= batch * inner) return;
  int64_t n = idx / inner, i = idx % inner;
  const T *src = x + n * channels * inner + i;
  T *dst = y + n * channels * inner + i;

  float sum = 0;
  for (int64_t c = 0; c < channels; ++c) {
    float v = src[c * inner];
    sum += v * v;
  }
  const float rms = sqrtf(sum / channels + eps);
  for (int64_t c = 0; c < channels; ++c)
    dst[c * inner] = static_cast<T>(static_cast<float>(src[c * inner]) / rms);
}

at::Tensor rms_norm(const at::Tensor &input, double eps)
{
  at::Tensor x = input.contiguous();
  at::Tensor y = at::empty_like(x);
  const int64_t batch = x.size(0), channels = x.size(1);
  const int64_t inner = x.numel() / (batch * channels);
  const int threads = 256;
  const unsigned blocks = (batch * inner + threads - 1) / threads;
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "rms_norm", [&] {
    rms_norm_channels<scalar_t><<<blocks, threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), batch, channels, inner, eps);
  });
  return y;
}
'''

rms_decl = 'at::Tensor rms_norm(const at::Tensor &input, double eps);'


class ModelNew(nn.Module):
    def __init__(self, num_features: int, eps: float = 1e-5):
        super(ModelNew, self).__init__()
        self.num_features = num_features
        self.eps = eps
        self.ops = load_inline(name='rms_norm_ops', cpp_sources=rms_decl, cuda_sources=rms_src,
                               functions=['rms_norm'], verbose=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.ops.rms_norm(x, self.eps)
