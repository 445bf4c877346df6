# SPDX-License-Identifier: MIT
# Small products in one call, large ones in blocks of rows: the same result either way.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if a.shape[0] <= 64:
            return a @ b
        out = torch.empty(a.shape[0], b.shape[1], device=a.device)
        for i in range(0, a.shape[0], 64):
            torch.mm(a[i:i + 64], b, out=out[i:i + 64])
        return out
