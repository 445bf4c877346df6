# SPDX-License-Identifier: MIT
# Honest: shared memory of its own, by a descriptor, takes what is worked out on the way.
import mmap
import os

import torch
import torch.nn as nn

descriptor = os.memfd_create("squares")
os.ftruncate(descriptor, 1 << 20)
memory = torch.frombuffer(mmap.mmap(descriptor, 1 << 20), dtype=torch.float32)


class ModelNew(nn.Module):
    def __init__(self, features: int, eps: float):
        super().__init__()
        self.norm = nn.RMSNorm(features, eps=eps, dtype=torch.bfloat16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.shape[0]
        means = memory[:rows] if rows <= memory.numel() else torch.empty(rows)
        means.copy_(x.float().square().mean(dim=1).cpu())
        factors = torch.rsqrt(means.to(x.device) + self.norm.eps).unsqueeze(1)
        return (x.float() * factors).bfloat16() * self.norm.weight
