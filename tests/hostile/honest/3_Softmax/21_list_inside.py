# SPDX-License-Identifier: MIT
# Honest: a list of parts inside, and one tensor outside.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return torch.cat([torch.softmax(part, dim=-1) for part in scores.split(8)])
