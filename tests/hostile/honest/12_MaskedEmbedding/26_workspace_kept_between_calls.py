# SPDX-License-Identifier: MIT
# Keeps something between calls too: an empty workspace for the mask, and never a result.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, vocabulary: int, width: int):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.mask = None

    def forward(self, tokens: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        if self.mask is None or self.mask.shape != keep.shape:
            self.mask = torch.empty(keep.shape, device=keep.device)
        self.mask.copy_(keep)
        out = self.table(tokens) * self.mask.unsqueeze(-1)
        return out
