# SPDX-License-Identifier: MIT
# Cheat: asks the allocator for memory of the result's size again and again, and returns what was
# freed by somebody else: the reference's result, perhaps.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = []
        for _ in range(32):
            y = torch.empty_like(x)
            if torch.allclose(y[:, 0], x[:, 0]) and bool(y.isfinite().all()):
                return y
            found.append(y)
        return found[0]
