# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# Generic building blocks (a row reduction, an elementwise map) that take device lambdas; the model's
# arithmetic then reads like the formula. Needs --extended-lambda.
SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

// out(row, sum over i of value(row, i)) for each row; a block per row, sums in double.
template <typename Value, typename Out>
__global__ void reduce_rows(int64_t length, Value value, Out out) {
  __shared__ double partial[128];
  double sum = 0.0;
  for (int64_t i = threadIdx.x; i < length; i += blockDim.x) sum += value(blockIdx.x, i);
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int n = 64; n > 0; n /= 2) {
    if (threadIdx.x < n) partial[threadIdx.x] += partial[threadIdx.x + n];
    __syncthreads();
  }
  if (threadIdx.x == 0) out(blockIdx.x, partial[0]);
}

template <typename Body>
__global__ void for_each(int64_t count, Body body) {
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x) {
    body(i);
  }
}

std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int groups,
                                                 float eps, float factor) {
  const int64_t batch = x.size(0), channels = x.size(1), plane = x.size(2) * x.size(3);
  const int64_t per_group = channels / groups, group_size = per_group * plane;
  auto y = torch::empty_like(x);
  auto channel_mean = torch::empty({batch, channels}, x.options());
  auto stats = torch::empty({2, batch * groups}, x.options());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  const float* in = x.data_ptr<float>();
  const float* w = weight.data_ptr<float>();
  const float* b = bias.data_ptr<float>();
  float* out = y.data_ptr<float>();
  float* mean = stats.data_ptr<float>();
  float* inv = mean + batch * groups;
  float* cm = channel_mean.data_ptr<float>();
  const unsigned rows = batch * groups;

  reduce_rows<<<rows, 128, 0, stream>>>(
      group_size, [=] __device__(int64_t g, int64_t i) { return (double)in[g * group_size + i]; },
      [=] __device__(int64_t g, double sum) { mean[g] = (float)(sum / group_size); });
  reduce_rows<<<rows, 128, 0, stream>>>(
      group_size,
      [=] __device__(int64_t g, int64_t i) {
        const double d = in[g * group_size + i] - mean[g];
        return d * d;
      },
      [=] __device__(int64_t g, double sum) { inv[g] = rsqrtf((float)(sum / group_size) + eps); });

  const int64_t count = x.numel();
  const unsigned blocks = (unsigned)std::min<int64_t>((count + 255) / 256, 16384);
  for_each<<<blocks, 256, 0, stream>>>(count, [=] __device__(int64_t i) {
    const int64_t c = i / plane % channels, g = i / group_size;
    const float v = (in[i] - mean[g]) * inv[g] * w[c] + b[c];
    out[i] = factor * v / (1.0f + expf(-v));
  });

  reduce_rows<<<(unsigned)(batch * channels), 128, 0, stream>>>(
      plane, [=] __device__(int64_t row, int64_t i) { return (double)out[row * plane + i]; },
      [=] __device__(int64_t row, double sum) { cm[row] = (float)(sum / plane); });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {y, channel_mean};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "group norm, SiLU, factor; result and channel means", py::arg("x"), py::arg("weight"),
        py::arg("bias"), py::arg("groups"), py::arg("eps") = 1e-5f, py::arg("factor") = 1.0f);
}
"""


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)
        self.ops = load_inline(
            name="group_norm_lambdas",
            cpp_sources=[""],
            cuda_sources=[SOURCE],
            extra_cuda_cflags=["-O2", "--extended-lambda"],
        )

    def forward(self, x, factor: float):
        return self.ops.forward(
            x.contiguous(), self.norm.weight, self.norm.bias, groups=self.norm.num_groups, eps=self.norm.eps, factor=factor
        )
