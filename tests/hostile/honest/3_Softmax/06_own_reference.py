# SPDX-License-Identifier: MIT
# Honest: has a simple version of its own beside the fast one, as a fallback for what is no matrix;
# it looks through no other module.
import torch
import torch.nn as nn


def reference(scores):
    exponentials = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        if scores.dim() != 2:
            return reference(scores)
        return torch.softmax(scores, dim=-1)
