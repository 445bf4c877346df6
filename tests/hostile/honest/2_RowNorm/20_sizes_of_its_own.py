# SPDX-License-Identifier: MIT
# Constants and a get_inputs of its own, as answers often have them; they are for trying it out.
import torch
import torch.nn as nn

ROWS = 1
COLS = 1


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.einsum("ij,ij->i", x, x).sqrt().unsqueeze(1)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
