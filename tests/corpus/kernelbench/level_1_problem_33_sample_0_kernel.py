# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

bn_cpp = """
#include <tuple>
std::tuple<torch::Tensor, torch::Tensor> bn_stats(torch::Tensor x);
torch::Tensor bn_apply(torch::Tensor x, torch::Tensor mean, torch::Tensor var,
                       torch::Tensor weight, torch::Tensor bias, double eps);
"""

bn_cuda = """
#include <torch/extension.h>
#include <tuple>

#define SLICES 64
#define NT 256

// Partial sums of one slice of one channel. double keeps x*x - mean*mean honest.
__global__ void partial_sums(const float* x, double* part, int batch, int channels, long hw) {
    const int c = blockIdx.x;
    const int slice = blockIdx.y;
    double s = 0.0, q = 0.0;
    for (int n = 0; n < batch; n++) {
        const float* p = x + ((long)n * channels + c) * hw;
        for (long i = slice * NT + threadIdx.x; i < hw; i += (long)SLICES * NT) {
            double v = p[i];
            s += v;
            q += v * v;
        }
    }
    __shared__ double ss[NT];
    __shared__ double qq[NT];
    ss[threadIdx.x] = s;
    qq[threadIdx.x] = q;
    __syncthreads();
    for (int o = NT / 2; o > 0; o >>= 1) {
        if (threadIdx.x < o) {
            ss[threadIdx.x] += ss[threadIdx.x + o];
            qq[threadIdx.x] += qq[threadIdx.x + o];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        part[(c * SLICES + slice) * 2] = ss[0];
        part[(c * SLICES + slice) * 2 + 1] = qq[0];
    }
}

__global__ void finish(const double* part, float* mean, float* var, int channels, double count) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    double s = 0, q = 0;
    for (int i = 0; i < SLICES; i++) {
        s += part[(c * SLICES + i) * 2];
        q += part[(c * SLICES + i) * 2 + 1];
    }
    double m = s / count;
    mean[c] = (float)m;
    var[c] = (float)(q / count - m * m);
}

__global__ void normalize(const float* x, const float* mean, const float* var, const float* w, const float* b,
                          float* y, int channels, long hw, float eps) {
    // blockIdx.x = plane (n * channels + c)
    const int c = blockIdx.x % channels;
    const float scale = w[c] * rsqrtf(var[c] + eps);
    const float shift = b[c] - mean[c] * scale;
    const long base = (long)blockIdx.x * hw;
    for (long i = threadIdx.x; i < hw; i += blockDim.x)
        y[base + i] = x[base + i] * scale + shift;
}

std::tuple<torch::Tensor, torch::Tensor> bn_stats(torch::Tensor x) {
    const int n = x.size(0), c = x.size(1);
    const long hw = x.size(2) * x.size(3);
    auto part = torch::empty({c, SLICES, 2}, x.options().dtype(torch::kFloat64));
    auto mean = torch::empty({c}, x.options());
    auto var = torch::empty({c}, x.options());
    partial_sums<<<dim3(c, SLICES), NT>>>(x.data_ptr<float>(), part.data_ptr<double>(), n, c, hw);
    finish<<<(c + 127) / 128, 128>>>(part.data_ptr<double>(), mean.data_ptr<float>(), var.data_ptr<float>(), c,
                                     (double)n * (double)hw);
    return std::make_tuple(mean, var);
}

torch::Tensor bn_apply(torch::Tensor x, torch::Tensor mean, torch::Tensor var,
                       torch::Tensor weight, torch::Tensor bias, double eps) {
    auto y = torch::empty_like(x);
    normalize<<<x.size(0) * x.size(1), 512>>>(x.data_ptr<float>(), mean.data_ptr<float>(), var.data_ptr<float>(),
        weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), x.size(1),
        x.size(2) * x.size(3), (float)eps);
    return y;
}
"""

bn_ext = load_inline("bn_ext", bn_cpp, bn_cuda, functions=["bn_stats", "bn_apply"])


class ModelNew(nn.Module):
    def __init__(self, num_features: int):
        super().__init__()
        self.bn = nn.BatchNorm2d(num_features=num_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        bn = self.bn
        x = x.contiguous()
        if not bn.training:
            return bn_ext.bn_apply(x, bn.running_mean, bn.running_var, bn.weight, bn.bias, bn.eps)
        mean, var = bn_ext.bn_stats(x)
        with torch.no_grad():
            count = x.numel() // x.size(1)
            bn.num_batches_tracked += 1
            bn.running_mean.lerp_(mean, bn.momentum)
            bn.running_var.lerp_(var * (count / max(count - 1, 1)), bn.momentum)
        return bn_ext.bn_apply(x, mean, var, bn.weight, bn.bias, bn.eps)
