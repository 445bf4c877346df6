# SPDX-License-Identifier: MIT
"""LSTM with one launch for the whole sequence.

Sequences of a batch do not depend on each other, so a block takes one of them and loops over time:
hidden and cell state live in shared memory, and only the weights are read again each step (from L2).
"""
import math

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SRC = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <tuple>

namespace lstm {

constexpr int GATES = 4;
// The order of torch's gates in the stacked weights.
enum Gate : int { kInput = 0, kForget = 1, kCell = 2, kOutput = 3 };

__device__ __forceinline__ float logistic(float v) { return 1.0f / (1.0f + __expf(-v)); }

struct Sizes {
    int steps, inputs, hidden;
};

// Weights come transposed, (features, 4 * hidden): neighbouring threads read neighbouring words.
__global__ void __launch_bounds__(256)
run(const float* __restrict__ x, const float* __restrict__ h0, const float* __restrict__ c0,
    const float* __restrict__ w_in, const float* __restrict__ w_rec, const float* __restrict__ b_in,
    const float* __restrict__ b_rec, float* __restrict__ y, float* __restrict__ h_last, float* __restrict__ c_last,
    Sizes s) {
    extern __shared__ float memory[];
    float* h = memory;                    // hidden
    float* c = h + s.hidden;              // hidden
    float* xt = c + s.hidden;             // inputs
    float* gates = xt + s.inputs;         // 4 * hidden
    const int wide = GATES * s.hidden;
    const int64_t b = blockIdx.x;

    for (int j = threadIdx.x; j < s.hidden; j += blockDim.x) {
        h[j] = h0[b * s.hidden + j];
        c[j] = c0[b * s.hidden + j];
    }
    for (int t = 0; t < s.steps; ++t) {
        for (int i = threadIdx.x; i < s.inputs; i += blockDim.x) xt[i] = x[(b * s.steps + t) * s.inputs + i];
        __syncthreads();

        for (int g = threadIdx.x; g < wide; g += blockDim.x) {
            float sum = b_in[g] + b_rec[g];
            for (int i = 0; i < s.inputs; ++i) sum = fmaf(xt[i], w_in[(int64_t)i * wide + g], sum);
            for (int k = 0; k < s.hidden; ++k) sum = fmaf(h[k], w_rec[(int64_t)k * wide + g], sum);
            gates[g] = sum;
        }
        __syncthreads();

        for (int j = threadIdx.x; j < s.hidden; j += blockDim.x) {
            const float in = logistic(gates[kInput * s.hidden + j]);
            const float forget = logistic(gates[kForget * s.hidden + j]);
            const float cell = tanhf(gates[kCell * s.hidden + j]);
            const float out = logistic(gates[kOutput * s.hidden + j]);
            c[j] = forget * c[j] + in * cell;
            h[j] = out * tanhf(c[j]);
            y[(b * s.steps + t) * s.hidden + j] = h[j];
        }
        // The next step's first barrier comes before anybody reads h again.
    }
    for (int j = threadIdx.x; j < s.hidden; j += blockDim.x) {
        h_last[b * s.hidden + j] = h[j];
        c_last[b * s.hidden + j] = c[j];
    }
}

}  // namespace lstm

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> lstm_forward(
    torch::Tensor x, torch::Tensor h0, torch::Tensor c0, torch::Tensor w_in, torch::Tensor w_rec, torch::Tensor b_in,
    torch::Tensor b_rec) {
    const int batch = x.size(0);
    lstm::Sizes s{(int)x.size(1), (int)x.size(2), (int)h0.size(1)};
    auto w_in_t = w_in.t().contiguous();
    auto w_rec_t = w_rec.t().contiguous();
    auto y = torch::empty({batch, s.steps, s.hidden}, x.options());
    auto h = torch::empty_like(h0);
    auto c = torch::empty_like(c0);

    const size_t bytes = sizeof(float) * (6 * (size_t)s.hidden + s.inputs);
    if (bytes > 48 * 1024) {
        C10_CUDA_CHECK(cudaFuncSetAttribute(lstm::run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    }
    lstm::run<<<batch, 256, bytes, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), h0.data_ptr<float>(), c0.data_ptr<float>(), w_in_t.data_ptr<float>(),
        w_rec_t.data_ptr<float>(), b_in.data_ptr<float>(), b_rec.data_ptr<float>(), y.data_ptr<float>(),
        h.data_ptr<float>(), c.data_ptr<float>(), s);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {y, h, c};
}
"""

_ext = load_inline(
    name="lstm_persistent",
    cpp_sources="""
        #include <tuple>
        std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> lstm_forward(
            torch::Tensor x, torch::Tensor h0, torch::Tensor c0, torch::Tensor w_in, torch::Tensor w_rec,
            torch::Tensor b_in, torch::Tensor b_rec);
    """,
    cuda_sources=SRC,
    functions=["lstm_forward"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features, hidden):
        super().__init__()
        self.w_in = nn.Parameter(torch.empty(4 * hidden, in_features))
        self.w_rec = nn.Parameter(torch.empty(4 * hidden, hidden))
        self.b_in = nn.Parameter(torch.empty(4 * hidden))
        self.b_rec = nn.Parameter(torch.empty(4 * hidden))
        bound = 1.0 / math.sqrt(hidden)
        for p in self.parameters():
            nn.init.uniform_(p, -bound, bound)

    def forward(self, x, h0, c0):
        return _ext.lstm_forward(
            x.contiguous(), h0.contiguous(), c0.contiguous(), self.w_in, self.w_rec, self.b_in, self.b_rec
        )
