# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# Define the custom CUDA kernel for the soft-capped swish
soft_capped_swish_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void soft_capped_swish_kernel(const float* x, float* out, int64_t size, float alpha, float cap) {
    int64_t idx = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < size) {
        float v = x[idx];
        float gated = v / (1.0f + expf(-alpha * v));
        out[idx] = cap * tanhf(gated / cap);
    }
}

torch::Tensor soft_capped_swish_cuda(torch::Tensor x, double alpha, double cap) {
    auto size = x.numel();
    auto out = torch::empty_like(x);

    const int block_size = 256;
    const int num_blocks = (size + block_size - 1) / block_size;

    soft_capped_swish_kernel<<<num_blocks, block_size>>>(x.data_ptr<float>(), out.data_ptr<float>(), size, alpha, cap);

    return out;
}
"""

soft_capped_swish_cpp_source = "torch::Tensor soft_capped_swish_cuda(torch::Tensor x, double alpha, double cap);"

# Compile the inline CUDA code
soft_capped_swish = load_inline(
    name="soft_capped_swish",
    cpp_sources=soft_capped_swish_cpp_source,
    cuda_sources=soft_capped_swish_source,
    functions=["soft_capped_swish_cuda"],
    verbose=True,
    extra_cflags=[""],
    extra_ldflags=[""],
)


class ModelNew(nn.Module):
    def __init__(self, cap: float):
        super(ModelNew, self).__init__()
        self.cap = cap
        self.soft_capped_swish = soft_capped_swish

    def forward(self, x: torch.Tensor, alpha: float) -> torch.Tensor:
        return self.soft_capped_swish.soft_capped_swish_cuda(x, alpha, self.cap)
