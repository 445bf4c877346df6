# SPDX-License-Identifier: MIT
# Says one line while it is made, to each of stdout and stderr, as many answers do.
import sys
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        print("library product, no kernel of its own")
        print("warning: nothing to compile", file=sys.stderr)

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b
