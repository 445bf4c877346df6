# SPDX-License-Identifier: MIT
# Honest: remembers the last shape, and from it how it splits the work; nothing of the contents.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if self.last is None or self.last[0] != a.shape:
            self.last = (a.shape, max(1, a.shape[0] // 2))
        return torch.cat([part @ b for part in a.split(self.last[1])])
