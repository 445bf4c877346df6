# SPDX-License-Identifier: MIT
# Honest: an exit handler that lets go of a workspace, as libraries do.
import atexit

import torch
import torch.nn as nn

workspace = {}
atexit.register(workspace.clear)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if workspace.get("shape") != x.shape:
            workspace.update(shape=x.shape, sums=torch.empty_like(x))
        torch.cumsum(x, dim=1, out=workspace["sums"])
        return workspace["sums"].clone()
