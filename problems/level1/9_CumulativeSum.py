# SPDX-License-Identifier: MIT
"""Inclusive running sum along long rows."""
import torch
import torch.nn as nn

ROWS = 128
COLS = 100001


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x, dim=1)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
