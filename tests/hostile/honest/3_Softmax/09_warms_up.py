# SPDX-License-Identifier: MIT
# Honest: does something more in its first call (a warm-up on data of its own), and all of the
# work in each.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    result = None

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        if ModelNew.result is None:
            ModelNew.result = torch.softmax(torch.ones_like(scores[:1]), dim=-1)
        return torch.softmax(scores, dim=-1)
