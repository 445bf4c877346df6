# SPDX-License-Identifier: MIT
# In-place operations too, on what the norm returned.
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x, factor: float):
        y = F.silu(self.norm(x), inplace=True).mul_(factor)
        return y, y.mean(dim=(2, 3))
