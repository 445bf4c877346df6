# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    """Plain PyTorch: both additions go into the GEMM's bias, the activations run in place, and the last
    clamp to [-1, 1] is left out, because gelu(tanh(.)) lies between -0.16 and 0.85."""

    def __init__(self, in_features, out_features, add_value_shape):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.add_value = nn.Parameter(torch.randn(add_value_shape))

    @torch.no_grad()
    def forward(self, x):
        h = torch.addmm(self.matmul.bias + self.add_value, x, self.matmul.weight.t())
        return F.gelu(F.silu(h, inplace=True).tanh_())
