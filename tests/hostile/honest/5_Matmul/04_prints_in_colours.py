# SPDX-License-Identifier: MIT
# Honest: prints in colours, once.
import torch
import torch.nn as nn

print("\x1b[32mmatmul by torch\x1b[0m")


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b
