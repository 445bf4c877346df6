# SPDX-License-Identifier: MIT
# The column is a view of a table of partial results, so its stride is not one.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        table = torch.empty(x.shape[0], 4, device=x.device, dtype=x.dtype)
        table[:, 0] = torch.linalg.vector_norm(x, dim=1)
        return table[:, :1]
