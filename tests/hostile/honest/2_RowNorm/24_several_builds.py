# SPDX-License-Identifier: MIT
# Honest: three extensions, one for each step.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

STEPS = {"squares": "x.square()", "sums": "x.sum(1, true)", "roots": "x.sqrt()"}
extensions = {
    name: load_inline(name=name, functions=[name],
                      cpp_sources=f"torch::Tensor {name}(torch::Tensor x) {{ return {step}; }}")
    for name, step in STEPS.items()
}


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for name, extension in extensions.items():
            x = getattr(extension, name)(x)
        return x
