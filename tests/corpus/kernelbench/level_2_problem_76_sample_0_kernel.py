# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# The product by cuBLAS directly (no allocation of an intermediate by ATen), bias and ReLU by a kernel.
source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <cublas_v2.h>

__global__ void bias_relu(float* __restrict__ y, const float* __restrict__ bias, const int rows, const int cols) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    const float b = __ldg(&bias[c]);
    for (int r = blockIdx.y; r < rows; r += gridDim.y) {
        float* p = y + (long long)r * cols + c;
        const float v = *p + b;
        *p = v > 0.f ? v : 0.f;
    }
}

torch::Tensor gemm_bias_relu(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    TORCH_CHECK(x.dtype() == torch::kFloat32, "float32 expected");
    x = x.contiguous();
    weight = weight.contiguous();
    const int m = x.size(0), k = x.size(1), n = weight.size(0);
    torch::Tensor y = torch::empty({m, n}, x.options());

    // cuBLAS is column-major: y^T (n x m) = W (as k x n, transposed) * x^T (k x m)
    const float one = 1.0f, zero = 0.0f;
    cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
    TORCH_CUDABLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one,
                                     weight.data_ptr<float>(), k, x.data_ptr<float>(), k, &zero,
                                     y.data_ptr<float>(), n));

    dim3 grid((n + 255) / 256, std::min(m, 1024));
    bias_relu<<<grid, 256, 0, at::cuda::getCurrentCUDAStream()>>>(y.data_ptr<float>(), bias.data_ptr<float>(), m, n);
    return y;
}
"""

ext = load_inline(
    name="gemm_bias_relu_cublas",
    cpp_sources="#include <torch/extension.h>\ntorch::Tensor gemm_bias_relu(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);",
    cuda_sources=source,
    functions=["gemm_bias_relu"],
    extra_ldflags=["-lcublas"],
    no_implicit_headers=True,
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, bias_shape):
        super(ModelNew, self).__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        return ext.gemm_bias_relu(x, self.gemm.weight, self.bias)
