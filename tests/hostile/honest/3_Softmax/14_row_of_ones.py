# SPDX-License-Identifier: MIT
# Rows are added up by a product with ones, which a buffer holds so that .to() moves them along; a
# scale that nobody has trained yet stands before it.
import torch
import torch.nn as nn

LONGEST = 1 << 15


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(()))
        self.register_buffer("ones", torch.ones(LONGEST, 1))

    def forward(self, scores):
        y = torch.exp((scores - scores.amax(-1, keepdim=True)) / self.temperature)
        return y / (y @ self.ones[:y.shape[-1]])
