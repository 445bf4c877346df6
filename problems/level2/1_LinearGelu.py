# SPDX-License-Identifier: MIT
"""A linear layer with bias followed by the exact (erf) GELU."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 4096
IN_FEATURES = 1024
OUT_FEATURES = 2048


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return F.gelu(self.linear(x))


def get_inputs():
    return [torch.randn(ROWS, IN_FEATURES)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES]
