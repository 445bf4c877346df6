# SPDX-License-Identifier: MIT
# A workspace starts at zero, and is left at zero by each call.
import torch
import torch.nn as nn

MOST_ROWS = 1 << 14


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("sums", torch.zeros(MOST_ROWS, 1))

    def forward(self, scores):
        y = torch.exp(scores - scores.amax(-1, keepdim=True))
        sums = self.sums[:y.shape[0]]
        sums += y.sum(-1, keepdim=True)
        result = y / sums
        sums.zero_()
        return result
