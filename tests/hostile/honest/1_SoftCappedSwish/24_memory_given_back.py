# SPDX-License-Identifier: MIT
# Honest: takes more memory than it needs for a moment, and gives it back.
import torch
import torch.nn as nn

ballast = torch.ones(1 << 20)
del ballast


class ModelNew(nn.Module):
    def __init__(self, cap):
        super().__init__()
        self.cap = cap

    def forward(self, x: torch.Tensor, alpha: float) -> torch.Tensor:
        return self.cap * torch.tanh(x * torch.sigmoid(alpha * x) / self.cap)
