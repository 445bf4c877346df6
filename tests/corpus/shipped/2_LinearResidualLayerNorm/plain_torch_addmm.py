# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    """The scaled residual folded into the GEMM: beta * C + alpha * A @ B is what BLAS computes anyway."""

    def __init__(self, features, alpha):
        super().__init__()
        self.linear = nn.Linear(features, features, bias=False)
        self.norm = nn.LayerNorm(features)
        self.alpha = alpha

    def forward(self, x):
        mixed = torch.addmm(x, x, self.linear.weight.t(), beta=1.0, alpha=self.alpha)
        return F.layer_norm(mixed, self.norm.normalized_shape, self.norm.weight, self.norm.bias, self.norm.eps)
