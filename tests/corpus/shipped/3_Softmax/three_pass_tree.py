# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

BLOCK = 256

cuda_code = f"""
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <float.h>

__global__ void softmax_kernel(const float* input, float* output, int cols) {{
    extern __shared__ float sdata[];

    int tid = threadIdx.x;
    const float* x = input + (long)blockIdx.x * cols;
    float* y = output + (long)blockIdx.x * cols;

    // step 1: maximum of the row
    float max_val = -FLT_MAX;
    for (int i = tid; i < cols; i += blockDim.x) max_val = fmaxf(max_val, x[i]);
    sdata[tid] = max_val;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {{
        if (tid < s) sdata[tid] = fmaxf(sdata[tid], sdata[tid + s]);
        __syncthreads();
    }}
    max_val = sdata[0];
    __syncthreads();

    // step 2: exponentials and their sum
    float sum = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {{
        float e = expf(x[i] - max_val);
        y[i] = e;
        sum += e;
    }}
    sdata[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {{
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }}
    sum = sdata[0];

    // step 3: normalise
    for (int i = tid; i < cols; i += blockDim.x) y[i] /= sum;
}}

torch::Tensor softmax_cuda(torch::Tensor input) {{
    auto output = torch::empty_like(input);
    int rows = input.size(0);
    int cols = input.size(1);
    const int threads = {BLOCK};
    softmax_kernel<<<rows, threads, threads * sizeof(float)>>>(
        input.data_ptr<float>(), output.data_ptr<float>(), cols);
    return output;
}}
"""

softmax_ext = load_inline(
    name="softmax_ext",
    cpp_sources="torch::Tensor softmax_cuda(torch::Tensor input);",
    cuda_sources=cuda_code,
    functions=["softmax_cuda"],
    verbose=True,
)


class ModelNew(nn.Module):
    def __init__(self):
        super(ModelNew, self).__init__()
        self.softmax = softmax_ext

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return self.softmax.softmax_cuda(scores)
