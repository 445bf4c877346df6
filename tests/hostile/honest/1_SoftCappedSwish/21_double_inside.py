# SPDX-License-Identifier: MIT
# Another type inside (float64), the type of the problem at the end.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, cap: float):
        super().__init__()
        self.cap = cap

    def forward(self, x: torch.Tensor, alpha: float) -> torch.Tensor:
        wide = x.double()
        return (self.cap * torch.tanh(wide * torch.sigmoid(alpha * wide) / self.cap)).to(x.dtype)
