# SPDX-License-Identifier: MIT
"""Multi-head self-attention with its projections; causal unless the init argument says otherwise."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
TOKENS = 1000
DIM = 512
HEADS = 8


class Model(nn.Module):
    def __init__(self, dim, heads, causal):
        super().__init__()
        self.heads = heads
        self.causal = causal
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        batch, tokens, dim = x.shape
        q, k, v = (
            part.view(batch, tokens, self.heads, dim // self.heads).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.proj(mixed.transpose(1, 2).reshape(batch, tokens, dim))


def get_inputs():
    return [torch.randn(BATCH, TOKENS, DIM)]


def get_init_inputs():
    return [DIM, HEADS, True]
