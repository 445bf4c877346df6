# SPDX-License-Identifier: MIT
"""Root-mean-square normalisation of bfloat16 activations, with a learned scale."""
import torch
import torch.nn as nn

TOKENS = 8190
FEATURES = 4096
EPS = 1e-5


class Model(nn.Module):
    def __init__(self, features: int, eps: float):
        super().__init__()
        self.norm = nn.RMSNorm(features, eps=eps, dtype=torch.bfloat16)
        with torch.no_grad():
            self.norm.weight.normal_(1.0, 0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def get_inputs():
    return [torch.randn(TOKENS, FEATURES, dtype=torch.bfloat16)]


def get_init_inputs():
    return [FEATURES, EPS]
