# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# conv -> average pool -> sigmoid -> sum of everything but the batch, in one kernel and a small reduction.
# The average of the convolution over a window is the convolution of the window's summed patches,
# so each pooled output needs, per input channel, the (k x k) sums of a (k + pool - 1)^2 patch.
fused_cuda = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

namespace {

template <int K_MAX>
__global__ void conv_pool_sigmoid(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                                  float* __restrict__ partial, int c_in, int h, int w, int c_out, int k, int pool,
                                  int ph, int pw) {
  extern __shared__ float filters[];           // [c_in][k][k] of this output channel
  __shared__ float warps[8];
  const int oc = blockIdx.y, n = blockIdx.z;
  const int taps = c_in * k * k;
  for (int i = threadIdx.x; i < taps; i += blockDim.x) filters[i] = weight[(int64_t)oc * taps + i];
  __syncthreads();

  float result = 0.f;
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < ph * pw) {
    const int y0 = p / pw * pool, x0 = p % pw * pool;
    float acc = 0.f;
    for (int c = 0; c < c_in; ++c) {
      const float* plane = x + ((int64_t)n * c_in + c) * h * w;
      float box[K_MAX * K_MAX];
      for (int i = 0; i < k * k; ++i) box[i] = 0.f;
      for (int dy = 0; dy < k + pool - 1; ++dy)
        for (int dx = 0; dx < k + pool - 1; ++dx) {
          const float v = __ldg(plane + (int64_t)(y0 + dy) * w + x0 + dx);
          // tap (i, j) sees this pixel from window position (dy - i, dx - j)
          for (int i = max(0, dy - pool + 1); i <= min(k - 1, dy); ++i)
            for (int j = max(0, dx - pool + 1); j <= min(k - 1, dx); ++j) box[i * k + j] += v;
        }
      for (int i = 0; i < k * k; ++i) acc += box[i] * filters[c * k * k + i];
    }
    const float mean = acc / (pool * pool) + bias[oc];
    result = 1.f / (1.f + expf(-mean));
  }
  for (int o = 16; o > 0; o >>= 1) result += __shfl_down_sync(0xffffffff, result, o);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = result;
  __syncthreads();
  if (threadIdx.x == 0) {
    float s = 0.f;
    for (int i = 0; i < blockDim.x / 32; ++i) s += warps[i];
    partial[((int64_t)n * gridDim.y + oc) * gridDim.x + blockIdx.x] = s;
  }
}

__global__ void sum_partials(const float* __restrict__ partial, float* __restrict__ out, int per_sample) {
  __shared__ float s[128];
  float v = 0.f;
  for (int i = threadIdx.x; i < per_sample; i += 128) v += partial[(int64_t)blockIdx.x * per_sample + i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int o = 64; o > 0; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

}  // namespace

torch::Tensor conv_pool_sigmoid_sum(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t pool) {
  x = x.contiguous();
  const int n = x.size(0), c_in = x.size(1), h = x.size(2), w = x.size(3), c_out = weight.size(0), k = weight.size(2);
  TORCH_CHECK(k <= 7, "kernels above 7 x 7 are not supported");
  const int ph = (h - k + 1) / pool, pw = (w - k + 1) / pool;
  const int blocks = (ph * pw + 255) / 256;
  auto partial = torch::empty({n, c_out, blocks}, x.options());
  auto out = torch::empty({n}, x.options());
  auto stream = at::cuda::getCurrentCUDAStream();
  const dim3 grid(blocks, c_out, n);
  const size_t bytes = sizeof(float) * c_in * k * k;
  auto* kernel = k <= 3 ? &conv_pool_sigmoid<3> : &conv_pool_sigmoid<7>;
  kernel<<<grid, 256, bytes, stream>>>(x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(),
                                       partial.data_ptr<float>(), c_in, h, w, c_out, k, (int)pool, ph, pw);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  sum_partials<<<n, 128, 0, stream>>>(partial.data_ptr<float>(), out.data_ptr<float>(), c_out * blocks);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""

fused_ext = load_inline(
    name="conv_pool_sigmoid_sum",
    cpp_sources="torch::Tensor conv_pool_sigmoid_sum(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t pool);",
    cuda_sources=fused_cuda,
    functions=["conv_pool_sigmoid_sum"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, pool_kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.pool_kernel_size = pool_kernel_size

    def forward(self, x):
        return fused_ext.conv_pool_sigmoid_sum(x, self.conv.weight, self.conv.bias, self.pool_kernel_size)
