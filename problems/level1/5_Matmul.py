# SPDX-License-Identifier: MIT
"""Product of two float32 matrices."""
import torch
import torch.nn as nn

M = 2000
K = 1540
N = 1800


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b


def get_inputs():
    return [torch.randn(M, K), torch.randn(K, N)]


def get_init_inputs():
    return []
