# SPDX-License-Identifier: MIT
# Honest: gives tensors a method of its own, and uses it.
import torch
import torch.nn as nn


def row_norm(self):
    return self.square().sum(dim=1, keepdim=True).sqrt()


torch.Tensor.row_norm = row_norm


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.row_norm()
