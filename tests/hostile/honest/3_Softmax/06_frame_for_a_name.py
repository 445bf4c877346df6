# SPDX-License-Identifier: MIT
# Honest: uses a frame to name itself in errors and gc to drop what __init__ left behind; what it
# finds there is of no use for the result.
import gc
import sys

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        gc.collect()

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        caller = sys._getframe(0).f_code.co_name
        if scores.dim() != 2:
            raise ValueError(f"{caller} takes a matrix")
        return torch.softmax(scores, dim=-1)
