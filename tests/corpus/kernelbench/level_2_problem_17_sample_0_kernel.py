# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

instance_norm_div_source = """
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__inline__ __device__ float warpReduceSum(float val) {
    for (int mask = 16; mask > 0; mask >>= 1)
        val += __shfl_xor_sync(0xffffffff, val, mask, 32);
    return val;
}

__inline__ __device__ float blockReduceSum(float val) {
    static __shared__ float shared[32];
    int lane = threadIdx.x & 0x1f;
    int wid = threadIdx.x >> 5;
    val = warpReduceSum(val);
    __syncthreads();
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < (blockDim.x >> 5)) ? shared[lane] : 0.0f;
    val = warpReduceSum(val);
    __syncthreads();
    if (threadIdx.x == 0) shared[0] = val;
    __syncthreads();
    return shared[0];
}

// two passes over the plane: the mean first, then the squared distances from it
__global__ void instance_norm_div_kernel(const float* __restrict__ x, float* __restrict__ y, int size, float eps, float inv_divisor) {
    const float* px = x + (long long)blockIdx.x * size;
    float* py = y + (long long)blockIdx.x * size;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < size; i += blockDim.x) sum += px[i];
    const float mean = blockReduceSum(sum) / size;

    float sq = 0.0f;
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        float d = px[i] - mean;
        sq += d * d;
    }
    const float var = blockReduceSum(sq) / size;
    const float scale = rsqrtf(var + eps) * inv_divisor;

    for (int i = threadIdx.x; i < size; i += blockDim.x) py[i] = (px[i] - mean) * scale;
}

torch::Tensor instance_norm_div(torch::Tensor x, double eps, double divisor) {
    x = x.contiguous();
    auto y = torch::empty_like(x);
    int planes = x.size(0) * x.size(1);
    int size = x.size(2) * x.size(3);
    int threads = size >= 1024 ? 512 : 64;
    instance_norm_div_kernel<<<planes, threads, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), size, (float)eps, (float)(1.0 / divisor));
    return y;
}
"""

instance_norm_div = load_inline(
    name="instance_norm_div",
    cpp_sources="torch::Tensor instance_norm_div(torch::Tensor x, double eps, double divisor);",
    cuda_sources=instance_norm_div_source,
    functions=["instance_norm_div"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divide_by):
        super(ModelNew, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.eps = 1e-5
        self.divide_by = divide_by

    def forward(self, x):
        return instance_norm_div.instance_norm_div(self.conv(x), self.eps, self.divide_by)
