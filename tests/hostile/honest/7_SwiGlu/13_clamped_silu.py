# SPDX-License-Identifier: MIT
# Honest: clamps the gate at -30 in the exponent of SiLU, where the result in half precision is the
# same, and takes the function itself everywhere else.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.gate = nn.Linear(in_features, out_features, bias=False, dtype=torch.float16)
        self.up = nn.Linear(in_features, out_features, bias=False, dtype=torch.float16)

    def forward(self, x):
        g = self.gate(x).float()
        silu = g / (1.0 + torch.exp(-g.clamp(min=-30.0)))
        return (silu * self.up(x).float()).half()
