# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# 1) mean and 1/std per (sample, group), 2) one thread per pixel walks over the channels: normalize,
# tanh, hardswish, add the convolution's output and keep an online logsumexp.
gn_tail_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <ATen/cuda/CUDAContext.h>

#define CHECK_CUDA(x) TORCH_CHECK((x).device().is_cuda(), #x, " must be a CUDA tensor")
#define CHECK_FLOAT(x) TORCH_CHECK((x).scalar_type() == at::ScalarType::Float, #x, " must be float")

__global__ void group_moments(const float* __restrict__ x, float* __restrict__ mean, float* __restrict__ rstd,
                              const int64_t len, const float eps)
{
    __shared__ float acc[256];
    __shared__ float m;
    const float* p = x + (int64_t)blockIdx.x * len;
    float s = 0.f;
    for (int64_t i = threadIdx.x; i < len; i += 256) s += p[i];
    acc[threadIdx.x] = s;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) acc[threadIdx.x] += acc[threadIdx.x + half];
    }
    if (threadIdx.x == 0) m = acc[0] / len;
    __syncthreads();
    s = 0.f;
    for (int64_t i = threadIdx.x; i < len; i += 256) s += (p[i] - m) * (p[i] - m);
    __syncthreads();
    acc[threadIdx.x] = s;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) acc[threadIdx.x] += acc[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = rsqrtf(acc[0] / len + eps);
    }
}

__global__ void residual_logsumexp(const float* __restrict__ x, const float* __restrict__ mean, const float* __restrict__ rstd,
                                   const float* __restrict__ gamma, const float* __restrict__ beta, float* __restrict__ out,
                                   int channels, int groups, int64_t plane)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= plane) return;
    const int n = blockIdx.y;
    const int per_group = channels / groups;
    const float* px = x + (int64_t)n * channels * plane + p;
    float m = -INFINITY, s = 0.f;
    for (int c = 0; c < channels; ++c) {
        const int g = n * groups + c / per_group;
        const float v = px[c * plane];
        const float t = tanhf((v - mean[g]) * rstd[g] * gamma[c] + beta[c]);
        const float r = v + t * fminf(fmaxf(t + 3.f, 0.f), 6.f) / 6.f;
        if (r > m) {
            s = s * expf(m - r) + 1.f;
            m = r;
        } else {
            s += expf(r - m);
        }
    }
    out[n * plane + p] = m + logf(s);
}

torch::Tensor gn_tail(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, int64_t groups, double eps) {
    CHECK_CUDA(x);
    CHECK_FLOAT(x);
    x = x.contiguous();
    const int n = x.size(0), c = x.size(1);
    const int64_t plane = x.size(2) * x.size(3);
    auto stats = torch::empty({2, n * groups}, x.options());
    auto out = torch::empty({n, 1, x.size(2), x.size(3)}, x.options());
    float* mean = stats[0].data_ptr<float>();
    float* rstd = stats[1].data_ptr<float>();
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    group_moments<<<n * groups, 256, 0, stream>>>(x.data_ptr<float>(), mean, rstd, c / groups * plane, (float)eps);
    residual_logsumexp<<<dim3((plane + 255) / 256, n), 256, 0, stream>>>(
        x.data_ptr<float>(), mean, rstd, gamma.data_ptr<float>(), beta.data_ptr<float>(), out.data_ptr<float>(), c, groups, plane);
    auto err = cudaGetLastError();
    TORCH_CHECK(err == cudaSuccess, "CUDA: ", cudaGetErrorString(err));
    return out;
}
"""

gn_tail = load_inline(
    name="gn_tail",
    cpp_sources="torch::Tensor gn_tail(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, int64_t groups, double eps);",
    cuda_sources=gn_tail_source,
    functions=["gn_tail"],
    verbose=False,
    extra_cflags=["-O3"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, groups, eps=1e-5):
        super(ModelNew, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.group_norm = nn.GroupNorm(groups, out_channels, eps=eps)

    def forward(self, x):
        y = self.conv(x)
        return gn_tail.gn_tail(y, self.group_norm.weight, self.group_norm.bias, self.group_norm.num_groups, self.group_norm.eps)
