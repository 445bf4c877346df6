# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn

# No C++ at all: NVRTC through torch.cuda._compile_kernel. Python ints arrive as 32 bit, hence rows and columns.
_code = """
extern "C" __global__ void relu_grid_stride(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    const long long n = (long long)rows * cols;
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        y[i] = fmaxf(x[i], 0.0f);
    }
}
"""

_kernel = None


def _relu(x):
    global _kernel
    if _kernel is None:
        _kernel = torch.cuda._compile_kernel(_code, "relu_grid_stride")
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    if n:
        rows = x.shape[0]
        blocks = min((n + 1023) // 1024, 32768)
        _kernel(grid=(blocks, 1, 1), block=(256, 1, 1), args=[x, y, rows, n // rows])
    return y


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _relu(x)
