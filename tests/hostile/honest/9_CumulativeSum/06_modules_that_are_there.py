# SPDX-License-Identifier: MIT
# Honest: looks through the modules that are loaded for one that it may use, and uses torch.
import sys

import torch
import torch.nn as nn

there = [name for name in ("cupy", "numba", "torch") if name in sys.modules]


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sys.modules[there[-1]].cumsum(x, dim=1)
