# SPDX-License-Identifier: MIT
# Honest: a mode counts functions of torch for the time of a call, and is left with it.
import torch
import torch.nn as nn
from torch.overrides import TorchFunctionMode


class Counting(TorchFunctionMode):
    count = 0

    def __torch_function__(self, function, types, arguments=(), options=None):
        Counting.count += 1
        return function(*arguments, **(options or {}))


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with Counting():
            return x.square().sum(dim=1, keepdim=True).sqrt()
