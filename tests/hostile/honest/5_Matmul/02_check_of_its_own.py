# SPDX-License-Identifier: MIT
# Honest: looks at which modules are loaded, and has a check of its own for what it returns.
import sys

import torch
import torch.nn as nn


def check_output(output):
    if type(output) is not torch.Tensor or not output.is_contiguous():
        raise TypeError("no plain tensor")


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        product = a @ b if "torch" in sys.modules else None
        check_output(product)
        return product
