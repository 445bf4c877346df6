# SPDX-License-Identifier: MIT
# The group norm is done without weight and bias too, but they follow in an operation of their own.
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x, factor: float):
        weight, bias = (p.view(1, -1, 1, 1) for p in (self.norm.weight, self.norm.bias))
        plain = F.group_norm(x, self.norm.num_groups, eps=self.norm.eps)
        y = F.silu(torch.addcmul(bias, plain, weight)) * factor
        return y, y.mean(dim=(2, 3))
