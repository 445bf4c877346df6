# SPDX-License-Identifier: MIT
"""Attention weights in half precision: scores scaled, padding keys masked out, softmax."""

import torch
import torch.nn as nn

BATCH = 16
HEADS = 16
QUERIES = 256
KEYS = 1000


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, scores, keep):
        scaled = scores * self.scale
        masked = scaled.masked_fill(~keep[:, None, None, :], float("-inf"))
        return torch.softmax(masked, dim=-1)


def get_inputs():
    scores = torch.randn(BATCH, HEADS, QUERIES, KEYS, dtype=torch.float16) * 4
    keep = torch.rand(BATCH, KEYS) > 0.2
    keep[:, 0] = True  # a row without any key would be all NaN
    return [scores, keep]


def get_init_inputs():
    return [0.375]
