# SPDX-License-Identifier: MIT
"""Rows of a table looked up by token number; masked positions become zero."""
import torch
import torch.nn as nn

BATCH = 64
LENGTH = 1003
VOCABULARY = 50000
WIDTH = 500
KEEP = 0.7


class Model(nn.Module):
    def __init__(self, vocabulary: int, width: int):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, tokens: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return self.table(tokens).masked_fill(~keep.unsqueeze(-1), 0.0)


def get_inputs():
    tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH))
    keep = torch.rand(BATCH, LENGTH) < KEEP
    return [tokens, keep]


def get_init_inputs():
    return [VOCABULARY, WIDTH]
