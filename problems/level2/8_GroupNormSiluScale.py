# SPDX-License-Identifier: MIT
"""Group norm, SiLU and a factor given at the call; the result and its mean over each channel."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 32
CHANNELS = 64
GROUPS = 8
HEIGHT = 64
WIDTH = 64
FACTOR = 0.75


class Model(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x, factor: float):
        y = F.silu(self.norm(x)) * factor
        return y, y.mean(dim=(2, 3))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH), FACTOR]


def get_init_inputs():
    return [GROUPS, CHANNELS]
