# SPDX-License-Identifier: MIT
# Honest: the inner dimension is multiplied in two halves, and the products are added.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        even = torch.bmm(left[:, :, 0::2].float(), right[:, 0::2].float())
        return (even + torch.bmm(left[:, :, 1::2].float(), right[:, 1::2].float())).half()
