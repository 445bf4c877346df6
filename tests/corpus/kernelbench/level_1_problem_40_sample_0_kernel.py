# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

layernorm_source = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <vector>

// A sample has millions of elements and there are few samples: several blocks share a sample.
// 1. every block leaves (sum, sum of squares) of its piece, relative to the sample's first element
// 2. one block per sample adds the pieces up
// 3. everything is normalized

constexpr int kThreads = 256;

template <typename T, typename Op>
__device__ T block_combine(T v, Op op, T identity) {
    __shared__ T lanes[32];
    for (int d = 16; d; d >>= 1) v = op(v, __shfl_down_sync(0xffffffff, v, d));
    __syncthreads();
    if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? lanes[threadIdx.x] : identity;
        for (int d = 16; d; d >>= 1) v = op(v, __shfl_down_sync(0xffffffff, v, d));
    }
    return v;   // valid in thread 0
}

struct Plus {
    template <typename T>
    __device__ T operator()(T a, T b) const { return a + b; }
};

__global__ void piece_moments(const float* __restrict__ x, double* __restrict__ pieces, int64_t len, int n_pieces) {
    const int64_t sample = blockIdx.y;
    const float* p = x + sample * len;
    const float origin = p[0];
    float sum = 0.f, squares = 0.f;
    double dsum = 0.0, dsquares = 0.0;
    int count = 0;
    for (int64_t i = (int64_t)blockIdx.x * kThreads + threadIdx.x; i < len; i += (int64_t)n_pieces * kThreads) {
        float v = p[i] - origin;
        sum += v;
        squares += v * v;
        if (++count == 64) {
            dsum += sum; dsquares += squares;
            sum = squares = 0.f;
            count = 0;
        }
    }
    dsum = block_combine<double>(dsum + sum, Plus(), 0.0);
    dsquares = block_combine<double>(dsquares + squares, Plus(), 0.0);
    if (threadIdx.x == 0) {
        pieces[(sample * n_pieces + blockIdx.x) * 2 + 0] = dsum;
        pieces[(sample * n_pieces + blockIdx.x) * 2 + 1] = dsquares;
    }
}

__global__ void sample_moments(const double* __restrict__ pieces, const float* __restrict__ x,
                               float* __restrict__ mean, float* __restrict__ rstd,
                               int64_t len, int n_pieces, double eps) {
    const int64_t sample = blockIdx.x;
    double s = 0.0, q = 0.0;
    for (int i = threadIdx.x; i < n_pieces; i += blockDim.x) {
        s += pieces[(sample * n_pieces + i) * 2];
        q += pieces[(sample * n_pieces + i) * 2 + 1];
    }
    s = block_combine<double>(s, Plus(), 0.0);
    q = block_combine<double>(q, Plus(), 0.0);
    if (threadIdx.x == 0) {
        const double m = s / len;
        mean[sample] = (float)(m + x[sample * len]);
        rstd[sample] = (float)(1.0 / sqrt(fmax(q / len - m * m, 0.0) + eps));
    }
}

__global__ void layernorm_apply(const float* __restrict__ x, const float* __restrict__ mean,
                                const float* __restrict__ rstd, const float* __restrict__ gamma,
                                const float* __restrict__ beta, float* __restrict__ y, int64_t len) {
    const int64_t sample = blockIdx.y;
    const float m = mean[sample], r = rstd[sample];
    for (int64_t i = (int64_t)blockIdx.x * kThreads + threadIdx.x; i < len; i += (int64_t)gridDim.x * kThreads)
        y[sample * len + i] = (x[sample * len + i] - m) * r * gamma[i] + beta[i];
}

std::vector<torch::Tensor> layernorm(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, double eps) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    const int64_t len = gamma.numel();
    const int64_t samples = x.numel() / len;
    const int n_pieces = (int)std::min<int64_t>(256, (len + kThreads - 1) / kThreads);
    auto y = torch::empty_like(x);
    auto mean = torch::empty({samples}, x.options());
    auto rstd = torch::empty_like(mean);
    auto pieces = torch::empty({samples, n_pieces, 2}, x.options().dtype(torch::kDouble));
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();

    piece_moments<<<dim3(n_pieces, samples), kThreads, 0, stream>>>(x.data_ptr<float>(), pieces.data_ptr<double>(), len, n_pieces);
    sample_moments<<<samples, 64, 0, stream>>>(pieces.data_ptr<double>(), x.data_ptr<float>(),
                                               mean.data_ptr<float>(), rstd.data_ptr<float>(), len, n_pieces, eps);
    const int blocks = (int)std::min<int64_t>((len + kThreads - 1) / kThreads, 4096);
    layernorm_apply<<<dim3(blocks, samples), kThreads, 0, stream>>>(x.data_ptr<float>(), mean.data_ptr<float>(),
        rstd.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), y.data_ptr<float>(), len);
    return {y, mean, rstd};
}
'''

_ln = load_inline(
    name="layernorm_multiblock",
    cpp_sources="#include <vector>\nstd::vector<torch::Tensor> layernorm(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, double eps);",
    cuda_sources=layernorm_source,
    functions=["layernorm"],
)


class ModelNew(nn.Module):
    def __init__(self, normalized_shape: tuple):
        super(ModelNew, self).__init__()
        self.ln = nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, _, _ = _ln.layernorm(x, self.ln.weight, self.ln.bias, self.ln.eps)
        return y
