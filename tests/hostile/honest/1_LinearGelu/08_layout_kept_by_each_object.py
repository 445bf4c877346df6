# SPDX-License-Identifier: MIT
# Honest: each object keeps its weights in another layout, made when they are no longer those that
# it has packed.
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.packed = None

    def forward(self, x):
        weight = self.linear.weight
        if self.packed is None or self.version != weight._version:
            self.packed, self.version = weight.t().contiguous(), weight._version
        return F.gelu(torch.addmm(self.linear.bias, x, self.packed))
