# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
import torch.nn.functional as F


def _forward(x, weight, bias, inverse):
    # (x W^T + b) / d: the division is moved into the epilogue, Inductor fuses it with the GELU
    return F.gelu(F.linear(x, weight, bias) * inverse)


_compiled = torch.compile(_forward, dynamic=False)


class ModelNew(nn.Module):
    def __init__(self, input_size, output_size, divisor):
        super().__init__()
        self.linear = nn.Linear(input_size, output_size)
        self.inverse = 1.0 / divisor

    def forward(self, x):
        return _compiled(x, self.linear.weight, self.linear.bias, self.inverse)
