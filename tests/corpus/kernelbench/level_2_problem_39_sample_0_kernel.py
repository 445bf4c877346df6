# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# scale followed by batch norm of a linear layer. scale * h has mean scale * mean(h) and variance
# scale^2 * var(h), so one pass for the statistics of h is enough, and the rest is one fused multiply-add.
stats_cuda = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

#define COLS 32
#define ROWS 16

__global__ void column_moments(const float* __restrict__ h, float* __restrict__ mean, float* __restrict__ var, int rows, int cols)
{
    // Welford per thread down a column, merged in shared memory
    __shared__ float s_mean[ROWS][COLS], s_m2[ROWS][COLS], s_n[ROWS][COLS];
    const int c = blockIdx.x * COLS + threadIdx.x;
    float n = 0.f, m = 0.f, m2 = 0.f;
    if (c < cols) {
        for (int r = threadIdx.y; r < rows; r += ROWS) {
            const float v = h[(size_t)r * cols + c];
            n += 1.f;
            const float d = v - m;
            m += d / n;
            m2 += d * (v - m);
        }
    }
    s_n[threadIdx.y][threadIdx.x] = n;
    s_mean[threadIdx.y][threadIdx.x] = m;
    s_m2[threadIdx.y][threadIdx.x] = m2;
    __syncthreads();
    if (threadIdx.y == 0 && c < cols) {
        for (int i = 1; i < ROWS; ++i) {
            const float on = s_n[i][threadIdx.x];
            if (on == 0.f) continue;
            const float d = s_mean[i][threadIdx.x] - m;
            const float total = n + on;
            m += d * on / total;
            m2 += s_m2[i][threadIdx.x] + d * d * n * on / total;
            n = total;
        }
        mean[c] = m;
        var[c] = m2 / n;
    }
}

__global__ void scale_and_normalize(float* __restrict__ h, const float* __restrict__ mean, const float* __restrict__ var,
                                    const float* __restrict__ scale, const float* __restrict__ gamma,
                                    const float* __restrict__ beta, float eps, size_t total, int cols)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += stride) {
        const int c = i % cols;
        const float s = scale[c];
        const float a = s * gamma[c] * rsqrtf(s * s * var[c] + eps);
        h[i] = (h[i] - mean[c]) * a + beta[c];
    }
}

std::vector<torch::Tensor> scale_batch_norm_(torch::Tensor h, torch::Tensor scale, torch::Tensor gamma, torch::Tensor beta, double eps)
{
    TORCH_CHECK(h.dim() == 2 && h.is_contiguous());
    const int rows = h.size(0), cols = h.size(1);
    auto mean = torch::empty({cols}, h.options()), var = torch::empty({cols}, h.options());
    const auto stream = at::cuda::getCurrentCUDAStream();
    column_moments<<<(cols + COLS - 1) / COLS, dim3(COLS, ROWS), 0, stream>>>(
        h.data_ptr<float>(), mean.data_ptr<float>(), var.data_ptr<float>(), rows, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    const int sms = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
    scale_and_normalize<<<sms * 8, 256, 0, stream>>>(h.data_ptr<float>(), mean.data_ptr<float>(), var.data_ptr<float>(),
        scale.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), (float)eps, (size_t)h.numel(), cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {h, mean, var};
}
"""

stats_cpp = """
#include <vector>
std::vector<torch::Tensor> scale_batch_norm_(torch::Tensor h, torch::Tensor scale, torch::Tensor gamma, torch::Tensor beta, double eps);
"""


def _load():
    if not hasattr(_load, "module"):
        _load.module = load_inline(name="scale_batch_norm", cpp_sources=stats_cpp, cuda_sources=stats_cuda,
                                   functions=["scale_batch_norm_"], extra_cuda_cflags=["-O3", "-Xptxas=-v"])
    return _load.module


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, scale_shape, eps=1e-5, momentum=0.1):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.scale = nn.Parameter(torch.randn(scale_shape))
        self.bn = nn.BatchNorm1d(out_features, eps=eps, momentum=momentum)

    @torch.no_grad()
    def forward(self, x):
        bn = self.bn
        h, mean, var = _load().scale_batch_norm_(self.gemm(x), self.scale, bn.weight, bn.bias, bn.eps)
        rows = x.shape[0]
        bn.running_mean.mul_(1 - bn.momentum).add_(mean * self.scale, alpha=bn.momentum)
        bn.running_var.mul_(1 - bn.momentum).add_(var * self.scale ** 2 * (rows / max(1, rows - 1)), alpha=bn.momentum)
        bn.num_batches_tracked += 1
        return h
