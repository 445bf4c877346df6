# SPDX-License-Identifier: MIT
"""The gated half of a transformer's feed-forward layer at decoding shape: few rows, much to sum."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 32
IN_FEATURES = 4096
OUT_FEATURES = 4096


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.gate = nn.Linear(in_features, out_features, bias=False, dtype=torch.float16)
        self.up = nn.Linear(in_features, out_features, bias=False, dtype=torch.float16)

    def forward(self, x):
        return F.silu(self.gate(x)) * self.up(x)


def get_inputs():
    return [torch.randn(ROWS, IN_FEATURES, dtype=torch.float16)]


def get_init_inputs():
    return [IN_FEATURES, OUT_FEATURES]
