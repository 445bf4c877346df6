# SPDX-License-Identifier: MIT
# The product is made transposed and returned as a view: right shape, strides of a transpose.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.mm(b.t(), a.t()).t()
