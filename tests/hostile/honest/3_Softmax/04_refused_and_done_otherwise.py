# SPDX-License-Identifier: MIT
# Honest: asks for what there may not be, and has another way if it is refused.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        try:
            self.graph = torch.cuda.CUDAGraph()
        except RuntimeError:
            self.graph = None

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        shifted = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        return shifted / shifted.sum(dim=-1, keepdim=True)
