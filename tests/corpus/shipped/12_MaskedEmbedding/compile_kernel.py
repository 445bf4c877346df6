# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn

KERNEL = r"""
extern "C" __global__ void masked_rows(const long long* tokens, const unsigned char* keep, const float* table,
                                       float* out, int width) {
    const long long position = blockIdx.x;
    const float* row = table + tokens[position] * width;
    const bool kept = keep[position] != 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        out[position * width + i] = kept ? row[i] : 0.0f;
    }
}
"""


class ModelNew(nn.Module):
    """NVRTC through torch itself: no C++ compiler, no host code."""

    def __init__(self, vocabulary: int, width: int):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.width = width
        self.kernel = None

    def forward(self, tokens: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        if self.kernel is None:
            self.kernel = torch.cuda._compile_kernel(KERNEL, "masked_rows")
        tokens = tokens.contiguous()
        keep = keep.contiguous()
        out = torch.empty(*tokens.shape, self.width, device=tokens.device)
        self.kernel(
            grid=(tokens.numel(), 1, 1),
            block=(128, 1, 1),
            args=[tokens, keep, self.table.weight, out, self.width],
        )
        return out
