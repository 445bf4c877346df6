# SPDX-License-Identifier: MIT
"""Label-smoothed cross entropy in one launch.

Every warp reads its row once (online log-sum-exp, plain sum, target logit). Blocks leave their sums
in a small buffer; the block that arrives last adds them up in a fixed order, so that the result
does not depend on the schedule.
"""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

_SRC = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

namespace {

constexpr int WARPS = 8;
constexpr unsigned FULL = 0xffffffffu;

// Blocks that have finished the launch in progress; the last one sets it back to zero.
__device__ unsigned int arrived = 0;

__device__ __forceinline__ void combine(float& m, float& s, float other_m, float other_s) {
    const float top = fmaxf(m, other_m);
    if (top == -INFINITY) return;
    s = s * __expf(m - top) + other_s * __expf(other_m - top);
    m = top;
}

__device__ double row_loss(const float* __restrict__ x, long target, int classes, double smoothing) {
    const int lane = threadIdx.x & 31;
    float m = -INFINITY, s = 0.0f, sum = 0.0f;
    for (int c = lane; c < classes; c += 32) {
        const float v = __ldg(x + c);
        sum += v;
        combine(m, s, v, 1.0f);
    }
    #pragma unroll
    for (int o = 16; o > 0; o >>= 1) {
        const float om = __shfl_xor_sync(FULL, m, o);
        const float os = __shfl_xor_sync(FULL, s, o);
        combine(m, s, om, os);
        sum += __shfl_xor_sync(FULL, sum, o);
    }
    const double lse = (double)m + log((double)s);
    const double hard = lse - (double)x[target];
    const double soft = lse - (double)sum / classes;
    return (1.0 - smoothing) * hard + smoothing * soft;
}

__global__ void __launch_bounds__(WARPS * 32)
cross_entropy(const float* __restrict__ logits, const int64_t* __restrict__ targets, double* partial,
              float* __restrict__ out, int rows, int classes, double smoothing) {
    __shared__ double warp_loss[WARPS];
    __shared__ bool is_last;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    double mine = 0.0;
    for (int row = blockIdx.x * WARPS + warp; row < rows; row += gridDim.x * WARPS) {
        mine += row_loss(logits + (int64_t)row * classes, targets[row], classes, smoothing);
    }
    if (lane == 0) warp_loss[warp] = mine;
    __syncthreads();

    if (threadIdx.x == 0) {
        double block = 0.0;
        for (int w = 0; w < WARPS; ++w) block += warp_loss[w];
        partial[blockIdx.x] = block;
        __threadfence();
        is_last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();

    if (is_last && threadIdx.x == 0) {
        __threadfence();
        const volatile double* sums = partial;
        double total = 0.0;
        for (int b = 0; b < gridDim.x; ++b) total += sums[b];
        *out = (float)(total / rows);
        arrived = 0;
    }
}

}  // namespace

at::Tensor smoothed_cross_entropy(const at::Tensor& logits, const at::Tensor& targets, double smoothing) {
    TORCH_CHECK(logits.dim() == 2 && targets.dim() == 1 && logits.size(0) == targets.size(0));
    const int rows = logits.size(0), classes = logits.size(1);
    const int limit = 4 * at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
    const int blocks = std::min((rows + WARPS - 1) / WARPS, limit);

    at::Tensor partial = at::empty({blocks}, logits.options().dtype(at::kDouble));
    at::Tensor out = at::empty({}, logits.options());
    cross_entropy<<<blocks, WARPS * 32, 0, at::cuda::getCurrentCUDAStream()>>>(
        logits.data_ptr<float>(), targets.data_ptr<int64_t>(), partial.data_ptr<double>(), out.data_ptr<float>(),
        rows, classes, smoothing);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""


class ModelNew(nn.Module):
    _compiled = None

    def __init__(self, smoothing: float):
        super().__init__()
        self.smoothing = float(smoothing)
        if ModelNew._compiled is None:
            ModelNew._compiled = load_inline(
                name="smoothed_cross_entropy_one_launch",
                cpp_sources=(
                    "at::Tensor smoothed_cross_entropy("
                    "const at::Tensor& logits, const at::Tensor& targets, double smoothing);"
                ),
                cuda_sources=_SRC,
                functions=["smoothed_cross_entropy"],
                extra_cuda_cflags=["-O3", "--ptxas-options=-v"],
            )

    def forward(self, logits, targets):
        return ModelNew._compiled.smoothed_cross_entropy(logits.contiguous(), targets.contiguous(), self.smoothing)
