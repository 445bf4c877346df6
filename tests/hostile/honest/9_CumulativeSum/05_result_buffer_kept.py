# SPDX-License-Identifier: MIT
# Honest: asks the allocator for memory once, keeps it, and writes all of it in each call.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.y = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.y is None or self.y.shape != x.shape:
            self.y = torch.empty_like(x)
        return torch.cumsum(x, dim=1, out=self.y)
