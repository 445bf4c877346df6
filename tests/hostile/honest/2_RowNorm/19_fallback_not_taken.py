# SPDX-License-Identifier: MIT
# There is a way back to torch, for inputs that the kernel does not take; these inputs it takes.
import torch
import torch.nn as nn

SOURCE = r"""
extern "C" __global__ void row_norm(const float* x, float* y, int cols) {
  const float* in = x + (long long)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += in[c] * in[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}
"""


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.cuda._compile_kernel(SOURCE, "row_norm")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype != torch.float32 or not x.is_contiguous():
            return torch.linalg.vector_norm(x, dim=1, keepdim=True)
        y = torch.empty(x.shape[0], 1, device=x.device)
        self.kernel(grid=(x.shape[0], 1, 1), block=(32, 1, 1), args=[x, y, x.shape[1]])
        return y
