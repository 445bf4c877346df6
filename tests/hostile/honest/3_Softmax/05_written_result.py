# SPDX-License-Identifier: MIT
# Honest: takes fresh memory with empty_like and writes every element of it.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(scores)
        torch.sub(scores, scores.amax(dim=-1, keepdim=True), out=y)
        y.exp_()
        return y.div_(y.sum(dim=-1, keepdim=True))
