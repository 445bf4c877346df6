# SPDX-License-Identifier: MIT
"""Position of the largest element along the middle dimension."""
import torch
import torch.nn as nn

BATCH = 64
DIM = 2050
INNER = 500


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.argmax(x, dim=1)


def get_inputs():
    return [torch.randn(BATCH, DIM, INNER)]


def get_init_inputs():
    return []
