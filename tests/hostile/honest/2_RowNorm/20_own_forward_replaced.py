# SPDX-License-Identifier: MIT
# Replaces a forward too, its own, once it knows which of two suits the device.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        if torch.cuda.is_available():
            self.forward = self.by_product

    def by_product(self, x: torch.Tensor) -> torch.Tensor:
        return torch.bmm(x[:, None], x[:, :, None])[:, 0].sqrt()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.square().sum(1, keepdim=True).sqrt()
