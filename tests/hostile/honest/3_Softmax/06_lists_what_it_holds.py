# SPDX-License-Identifier: MIT
# Honest: counts its descriptors and its mapped memory, as code does that looks for leaks, uses names of
# the problem's file, and computes the answer itself.
import os

import torch
import torch.nn as nn

BEFORE = len(os.listdir("/proc/self/fd"))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        with open("/proc/self/maps") as maps:
            self.mapped = sum(1 for _ in maps)
        self.leaked = len(os.listdir("/proc/self/fd")) - BEFORE
        self.columns = COLS  # noqa: F821 (of the problem's file)

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        if scores.shape[1] != self.columns:
            raise ValueError(f"{scores.shape[1]} columns, and not {self.columns}")
        shifted = scores - scores.max(dim=-1, keepdim=True).values
        powers = torch.exp(shifted)
        return powers / powers.sum(dim=-1, keepdim=True)
