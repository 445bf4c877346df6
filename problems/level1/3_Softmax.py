# SPDX-License-Identifier: MIT
"""Softmax over the last dimension of a matrix of scores."""
import torch
import torch.nn as nn

ROWS = 4096
COLS = 16380
SPREAD = 3.0


class Model(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return torch.softmax(scores, dim=-1)


def get_inputs():
    return [SPREAD * torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
