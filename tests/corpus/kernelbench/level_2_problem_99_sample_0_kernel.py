# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

gelu_softmax_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <c10/cuda/CUDAException.h>

__device__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

// Block-wide reduction of v with op; the result is returned to every thread.
template <typename Op>
__device__ float reduce_all(float v, float* buffer, Op op, float neutral) {
    for (int o = warpSize / 2; o > 0; o >>= 1) v = op(v, __shfl_xor_sync(0xffffffff, v, o));
    __syncthreads();
    if (threadIdx.x % warpSize == 0) buffer[threadIdx.x / warpSize] = v;
    __syncthreads();
    v = threadIdx.x % warpSize < blockDim.x / warpSize ? buffer[threadIdx.x % warpSize] : neutral;
    for (int o = warpSize / 2; o > 0; o >>= 1) v = op(v, __shfl_xor_sync(0xffffffff, v, o));
    return v;
}

struct MaxOp { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct SumOp { __device__ float operator()(float a, float b) const { return a + b; } };

// CACHED: the row's GELU values stay in shared memory between the passes
template <bool CACHED>
__global__ void gelu_softmax(const float* __restrict__ x, float* __restrict__ y, int cols) {
    extern __shared__ float row[];
    __shared__ float buffer[32];
    const float* in = x + (size_t)blockIdx.x * cols;
    float* out = y + (size_t)blockIdx.x * cols;

    float m = -INFINITY;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float v = gelu(in[i]);
        if (CACHED) row[i] = v;
        m = fmaxf(m, v);
    }
    m = reduce_all(m, buffer, MaxOp(), -INFINITY);

    float s = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float e = expf((CACHED ? row[i] : gelu(in[i])) - m);
        if (CACHED) row[i] = e;
        s += e;
    }
    s = reduce_all(s, buffer, SumOp(), 0.0f);

    const float inv = 1.0f / s;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        out[i] = (CACHED ? row[i] : expf(gelu(in[i]) - m)) * inv;
}

torch::Tensor gelu_softmax_cuda(torch::Tensor x) {
    x = x.contiguous();
    auto y = torch::empty_like(x);
    const int rows = x.size(0), cols = x.size(1);

    cudaDeviceProp prop;
    C10_CUDA_CHECK(cudaGetDeviceProperties(&prop, x.get_device() < 0 ? 0 : x.get_device()));
    const size_t bytes = cols * sizeof(float);
    if (bytes + 1024 <= prop.sharedMemPerBlockOptin) {
        C10_CUDA_CHECK(cudaFuncSetAttribute(gelu_softmax<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
        gelu_softmax<true><<<rows, 512, bytes>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
    } else {
        gelu_softmax<false><<<rows, 512>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""

gelu_softmax = load_inline(
    name="gelu_softmax",
    cpp_sources="torch::Tensor gelu_softmax_cuda(torch::Tensor x);",
    cuda_sources=gelu_softmax_source,
    functions=["gelu_softmax_cuda"],
    verbose=True,
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super(ModelNew, self).__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.gelu_softmax = gelu_softmax

    def forward(self, x):
        x = self.linear(x)
        return self.gelu_softmax.gelu_softmax_cuda(x)
