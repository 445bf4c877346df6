# SPDX-License-Identifier: MIT
"""Batch norm in training mode and ReLU.

The statistics of the batch normalise it, and the running ones (mean, unbiased variance and the
count of batches) move on in place: a right candidate updates them too.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 64
CHANNELS = 64
HEIGHT = 56
WIDTH = 56


class Model(nn.Module):
    def __init__(self, channels, momentum):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels, momentum=momentum)

    def forward(self, x):
        return F.relu(self.bn(x))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH) * 1.5 + 0.5]


def get_init_inputs():
    return [CHANNELS, 0.2]
