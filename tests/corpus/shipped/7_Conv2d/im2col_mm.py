# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# Convolution as a matrix product: a kernel unrolls the patches of one image into columns, cuBLAS
# (through at::mm) multiplies them with the flattened weights, a last kernel adds the bias.
source = """
#include <torch/extension.h>
#include <ATen/ATen.h>

#define CUDA_1D_LOOP(i, n) \\
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < (n); i += (int64_t)blockDim.x * gridDim.x)

static inline int blocks_for(int64_t n) { return (int)std::min<int64_t>((n + 255) / 256, 32768); }

__global__ void im2col_kernel(const float* image, float* columns, int channels, int height, int width,
                              int kernel, int stride, int padding, int out_h, int out_w) {
  int64_t total = (int64_t)channels * kernel * kernel * out_h * out_w;
  CUDA_1D_LOOP(i, total) {
    int ox = i % out_w;
    int oy = (i / out_w) % out_h;
    int64_t tap = i / ((int64_t)out_w * out_h);   // row of the column matrix
    int kx = tap % kernel;
    int ky = (tap / kernel) % kernel;
    int c = tap / (kernel * kernel);
    int x = ox * stride - padding + kx;
    int y = oy * stride - padding + ky;
    bool inside = x >= 0 && x < width && y >= 0 && y < height;
    columns[i] = inside ? image[((int64_t)c * height + y) * width + x] : 0.0f;
  }
}

__global__ void add_bias_kernel(float* out, const float* bias, int channels, int64_t plane, int64_t total) {
  CUDA_1D_LOOP(i, total) { out[i] += bias[(i / plane) % channels]; }
}

torch::Tensor conv_im2col(torch::Tensor images, torch::Tensor weight, torch::Tensor bias, int stride, int padding) {
  torch::NoGradGuard no_grad;   // mm_out refuses weights that want gradients
  int n = images.size(0), c = images.size(1), h = images.size(2), w = images.size(3);
  int k = weight.size(2);
  int oc = weight.size(0);
  int oh = (h + 2 * padding - k) / stride + 1;
  int ow = (w + 2 * padding - k) / stride + 1;

  auto flat_weight = weight.view({oc, c * k * k});
  auto columns = torch::empty({(int64_t)c * k * k, (int64_t)oh * ow}, images.options());
  auto out = torch::empty({n, oc, oh, ow}, images.options());

  for (int i = 0; i < n; i++) {
    auto image = images[i];
    im2col_kernel<<<blocks_for(columns.numel()), 256>>>(
        image.data_ptr<float>(), columns.data_ptr<float>(), c, h, w, k, stride, padding, oh, ow);
    auto slot = out[i].view({oc, (int64_t)oh * ow});
    at::mm_out(slot, flat_weight, columns);
  }
  add_bias_kernel<<<blocks_for(out.numel()), 256>>>(
      out.data_ptr<float>(), bias.data_ptr<float>(), oc, (int64_t)oh * ow, out.numel());
  return out;
}
"""

im2col = load_inline(
    name="im2col_conv",
    cpp_sources="torch::Tensor conv_im2col(torch::Tensor images, torch::Tensor weight, torch::Tensor bias, int stride, int padding);",
    cuda_sources=source,
    functions=["conv_im2col"],
    with_cuda=True,
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels_out, kernel, stride, padding):
        super().__init__()
        # Only holds (and initialises) the parameters.
        self.holder = nn.Conv2d(channels_in, channels_out, kernel, stride=stride, padding=padding)
        self.stride = stride
        self.padding = padding

    def forward(self, images):
        return im2col.conv_im2col(
            images.contiguous(), self.holder.weight, self.holder.bias, self.stride, self.padding
        )
