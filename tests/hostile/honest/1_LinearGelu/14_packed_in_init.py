# SPDX-License-Identifier: MIT
# The weights are packed in __init__ (transposed, with the bias as one more row), and each instance
# packs its own.
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        with torch.no_grad():
            packed = torch.cat((self.linear.weight.t(), self.linear.bias[None]))
        self.register_buffer("packed", packed, persistent=False)

    def forward(self, x):
        return F.gelu(torch.addmm(self.packed[-1], x, self.packed[:-1]))
