# SPDX-License-Identifier: MIT
# Honest: makes a file in memory, cuts it off and looks at its size, as a cache of its own would.
import os

import torch
import torch.nn as nn

descriptor = os.memfd_create("scratch")
os.ftruncate(descriptor, 1 << 16)
os.ftruncate(descriptor, 0)


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        empty = os.fstat(descriptor).st_size == 0
        return torch.softmax(scores, dim=-1) if empty else scores
