# SPDX-License-Identifier: MIT
"""RMS norm of every head, then rotary position embedding; bfloat16 data, float32 arithmetic.

Positions are given per token, so the tables of cosines and sines are gathered.
"""

import torch
import torch.nn as nn

BATCH = 8
TOKENS = 2048
HEADS = 16
HEAD_DIM = 128
MAX_POSITION = 4096


class Model(nn.Module):
    def __init__(self, head_dim, max_position, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(head_dim, dtype=torch.bfloat16))
        rates = 10000.0 ** (-torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
        angles = torch.arange(max_position, dtype=torch.float32)[:, None] * rates
        self.register_buffer("cos", torch.cos(angles))
        self.register_buffer("sin", torch.sin(angles))

    def forward(self, x, positions):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        first, second = (wide * self.weight.float()).chunk(2, dim=-1)
        cos = self.cos[positions][:, :, None, :]
        sin = self.sin[positions][:, :, None, :]
        turned = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
        return turned.to(x.dtype)


def get_inputs():
    x = torch.randn(BATCH, TOKENS, HEADS, HEAD_DIM, dtype=torch.bfloat16)
    return [x, torch.randint(0, MAX_POSITION, (BATCH, TOKENS))]


def get_init_inputs():
    return [HEAD_DIM, MAX_POSITION, 1e-6]
