# SPDX-License-Identifier: MIT
# Honest: 32 rows at a time, as many times as that takes.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = [part.square().sum(dim=1, keepdim=True).sqrt() for part in x.split(32)]
        return torch.cat(parts)
