# SPDX-License-Identifier: MIT
"""Swish whose steepness is an argument of the call, bounded softly to (-cap, cap)."""
import torch
import torch.nn as nn

ROWS = 4000
COLS = 8100
STEEPNESS = 1.5
CAP = 2.5


class Model(nn.Module):
    def __init__(self, cap: float):
        super().__init__()
        self.cap = cap

    def forward(self, x: torch.Tensor, alpha: float) -> torch.Tensor:
        gated = x * torch.sigmoid(alpha * x)
        return self.cap * torch.tanh(gated / self.cap)


def get_inputs():
    return [2.0 * torch.randn(ROWS, COLS), STEEPNESS]


def get_init_inputs():
    return [CAP]
