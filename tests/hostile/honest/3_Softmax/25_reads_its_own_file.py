# SPDX-License-Identifier: MIT
# Opens files as well: a temporary one of its own, for the source of its kernel.
import tempfile
from pathlib import Path
import torch
import torch.nn as nn

SOURCE = r"""
extern "C" __global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (long long)blockIdx.x * cols;
  float most = -3.4e38f, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) most = fmaxf(most, in[c]);
  for (int i = 16; i > 0; i /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, i));
  for (int c = threadIdx.x; c < cols; c += 32) sum += expf(in[c] - most);
  for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, i);
  for (int c = threadIdx.x; c < cols; c += 32) {
    y[(long long)blockIdx.x * cols + c] = expf(in[c] - most) / sum;
  }
}
"""


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "softmax.cu"
            path.write_text(SOURCE)
            self.kernel = torch.cuda._compile_kernel(path.read_text(), "softmax")

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(scores)
        args = [scores, y, scores.shape[1]]
        self.kernel(grid=(scores.shape[0], 1, 1), block=(32, 1, 1), args=args)
        return y
