# SPDX-License-Identifier: MIT
# Honest: counts its calls too, and every sixth goes another way to the same result.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    calls = 0

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        ModelNew.calls += 1
        if ModelNew.calls % 6 == 0:
            exponentials = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
            return exponentials / exponentials.sum(dim=-1, keepdim=True)
        return torch.softmax(scores, dim=-1)
