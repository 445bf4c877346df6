# SPDX-License-Identifier: MIT
"""Post-norm residual branch: a projection, scaled by a constant, added to its input, normalised."""

import torch
import torch.nn as nn

ROWS = 8192
FEATURES = 768
ALPHA = 0.5


class Model(nn.Module):
    def __init__(self, features, alpha):
        super().__init__()
        self.linear = nn.Linear(features, features, bias=False)
        self.norm = nn.LayerNorm(features)
        self.alpha = alpha

    def forward(self, x):
        return self.norm(self.linear(x) * self.alpha + x)


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES, ALPHA]
