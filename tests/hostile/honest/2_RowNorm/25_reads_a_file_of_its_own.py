# SPDX-License-Identifier: MIT
# Reads a file too, the source of its kernel, which it names and which lies in a folder below.
from pathlib import Path
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load

FOLDER = Path(__file__).resolve().parent
module = load(name="row_norm_of_its_own", sources=[str(FOLDER / "csrc/25_row_norm.cu")])


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return module.norms(x)
