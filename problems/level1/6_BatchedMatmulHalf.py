# SPDX-License-Identifier: MIT
"""Products of many pairs of small float16 matrices with a long inner dimension."""
import torch
import torch.nn as nn

BATCH = 16
M = 120
K = 8192
N = 136


class Model(nn.Module):
    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return torch.bmm(left, right)


def get_inputs():
    return [
        torch.randn(BATCH, M, K, dtype=torch.float16),
        torch.randn(BATCH, K, N, dtype=torch.float16),
    ]


def get_init_inputs():
    return []
